export { type Finding, tellFindings } from './evidence.ts';
export { introduce } from './introduction.ts';
export { type Line, render, type Tone } from './line.ts';
export { narrate } from './narrate.ts';
export { demoPlan, demoProberConfig } from './setting.ts';
export { openStage } from './stage.ts';
