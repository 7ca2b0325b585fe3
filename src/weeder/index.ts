export { weederConfig } from './config.ts';
export { weederGrants } from './rights.ts';
export type { WeededService, WeederSettings } from './settings.ts';
export { startWeeder, weederComponent } from './setup.ts';
