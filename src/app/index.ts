export { type Check, type ProberOptions, type ProberPorts, type RunningComponent, startProber } from './prober.ts';
