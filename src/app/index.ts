export type { LoadedConfig } from './config-watch.ts';
export { type ProcessDeps, runComponent } from './process.ts';
export { proberComponent, type ProberOptions, type ProberPorts, startProber } from './prober.ts';
export type { RunningComponent } from './reloadable.ts';
