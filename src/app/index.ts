export { type ProcessDeps, runProber } from './process.ts';
export { type ProberOptions, type ProberPorts, startProber } from './prober.ts';
export type { RunningComponent } from './reloadable.ts';
