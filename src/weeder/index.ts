export { weederConfig } from './config.ts';
export type { WeededService, WeederSettings } from './settings.ts';
export { weederComponent } from './component.ts';
