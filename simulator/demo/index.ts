export { type About, aboutLines } from './about.ts';
export { type Line, type Tone, render, runLive, seconds } from './live.ts';
export { faultsOnPage } from './page.ts';
export { demoProberConfig, demoWeederConfig } from './setting.ts';
export { openWorld } from './world.ts';
