export { type JsonSchema, proberJsonSchema } from './json-schema.ts';
export { checkProberFile } from './manifest.ts';
export { loadProberConfig } from './prober.ts';
export { type ConfigProblem, formatProblem, hasErrors } from './problem.ts';
