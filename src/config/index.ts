export { careConfig } from './care.ts';
export type { ComponentConfig } from './component-config.ts';
export type { JsonSchema } from './json-schema.ts';
export type { LoadedConfig, LoadOptions } from './load.ts';
export type { Outline } from './outline.ts';
export { proberConfig } from './prober.ts';
export { type ConfigProblem, formatProblem, hasErrors } from './problem.ts';
export { type ComponentName, componentNames } from './type-meta.ts';
export { weederConfig } from './weeder.ts';
