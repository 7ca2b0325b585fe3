export { type CareOptions, type CareProcessDeps, createCare, runCareProcess } from './component.ts';
export { type CareSettings, careConfig } from './config.ts';
export { type CareOnceDeps, type CareResults, runCareOnce } from './once.ts';
export { careGrants } from './rights.ts';
