export { checkProberFile } from './manifest.ts';
export { type LoadedProberConfig, type LoadOptions, loadProberConfig } from './prober.ts';
export { type ConfigProblem, formatProblem, hasErrors, type Severity } from './problem.ts';
