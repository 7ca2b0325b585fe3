export { type WeederSettings, weederConfig } from './config.ts';
export { weederComponent } from './component.ts';
