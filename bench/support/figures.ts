import type { Kinds } from './traffic.ts';

/** What a program cost while it was measured, as seen from outside. */
export interface Figures {
  readonly target: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly connections: number;
  readonly resumed: number;
  /** To and from the shoots, over TCP. */
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly shootKinds: Kinds;
  readonly seedKinds: Kinds;
  readonly worldCpuSeconds: number;
  /** Of everything else on the machine. */
  readonly otherCpuSeconds: number;
}
