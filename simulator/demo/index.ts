export { type About, aboutLines } from './about.ts';
export { demoProberConfig, demoWeederConfig } from './configs.ts';
export { type Line, type Tone, render, seconds } from './line.ts';
export { runLive } from './live.ts';
export { faultsOnPage } from './page.ts';
export { openWorld } from './world.ts';
