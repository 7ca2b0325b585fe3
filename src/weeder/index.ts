export { weederConfig } from './config.ts';
export type { WeededService, WeederSettings } from './settings.ts';
export { startWeeder, weederComponent } from './component.ts';
