export { type About, aboutLines } from './about.ts';
export { demoProberConfig, demoWeederConfig } from './configs.ts';
export { type Line, type Tone, render, seconds } from './line.ts';
export { type LiveOptions, runLive } from './live.ts';
export { faultsOnPage } from './page.ts';
export { scriptedKeys } from './script.ts';
export { Stage, type StageOptions } from './stage.ts';
export { openWorld } from './world.ts';
