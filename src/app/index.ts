export { type ProcessDeps, runProber } from './process.ts';
export { type ProberOptions, type ProberPorts, type RunningComponent, startProber } from './prober.ts';
