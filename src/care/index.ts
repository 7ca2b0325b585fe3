export { careConfig } from './config.ts';
export { type CareProcessDeps, type CareRound, type CareRoundDeps, runCareProcess, runCareRound } from './process.ts';
export { careGrants } from './rights.ts';
export type { CareSettings } from './settings.ts';
export { startCare } from './setup.ts';
