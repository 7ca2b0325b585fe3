export { careJsonSchema, checkCareFile, loadCareConfig } from './care.ts';
export type { JsonSchema } from './json-schema.ts';
export { gardenerConfigs } from './gardener.ts';
export type { LoadedConfig, LoadOptions } from './load.ts';
export type { Outline } from './outline.ts';
export { checkProberFile, loadProberConfig, proberJsonSchema } from './prober.ts';
export { type ConfigProblem, formatProblem, hasErrors } from './problem.ts';
export { checkWeederFile, loadWeederConfig, weederJsonSchema } from './weeder.ts';
