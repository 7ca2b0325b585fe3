export { careConfig } from './config.ts';
export { type CareProcessDeps, runCareProcess } from './run-care.ts';
export { careGrants } from './rights.ts';
export { type CareResults, type CareOnceDeps, runCareOnce } from './run-once.ts';
export type { CareSettings } from './settings.ts';
export { startCare } from './setup.ts';
