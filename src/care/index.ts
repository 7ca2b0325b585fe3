export { careConfig } from './config.ts';
export { type CareProcessDeps, runCareProcess } from './process.ts';
export { careGrants } from './rights.ts';
export { type CareRound, type CareRoundDeps, runCareRound } from './round.ts';
export type { CareSettings } from './settings.ts';
export { startCare } from './setup.ts';
