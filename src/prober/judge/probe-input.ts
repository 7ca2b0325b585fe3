import type { PoolConditions } from '../../gardener/candidate-nodes.ts';
import type { ProbeMemory } from './probe-memory.ts';

export interface DependentsView {
  /** True if all watches have synced, nothing is being scaled, and every existing resource is scaled up, ready and without our annotations. */
  readonly nothingToRestore: boolean;
  /** True if a resource carries the mark (`meltdown-protection-active`). */
  readonly anyHeld: boolean;
  /** True if a resource carries the mark, or may carry it because its watch has not synced yet. */
  readonly mayBeHeld: boolean;
}

export interface ProbeSettings {
  readonly probeIntervalMs: number;
  readonly backoffJitterFactor: number;
  /** Age at which a lease counts as expired: 0.75 of the shoot's node monitor grace period. */
  readonly expiryAgeMs: number;
  /** The shoot's node monitor grace period. */
  readonly graceMs: number;
  /** If no candidate renews for this long, all count as cut off. Absent: half of `graceMs`, and at least half of each lease's duration. 0: never. */
  readonly allSilentAfterMs?: number;
  /** True while the external probe finds the public address unreachable, and may shorten that time (mode `trigger`). */
  readonly isTriggered?: boolean;
  /** Longest time that a restoration waits for late kubelets. 0: it does not wait. */
  readonly landingTimeoutMs: number;
  readonly nodeLeaseFailureFraction: number;
  readonly poolConditions: PoolConditions;
}

/** Input of the judgement, besides the lists that the run reads. Times are monotonic milliseconds. */
export interface ProbeInput {
  readonly settings: ProbeSettings;
  /** The memory that the previous run returned. */
  readonly memory: ProbeMemory;
  readonly dependents: DependentsView;
  readonly now: number;
  /** Random number in [0, 1), for the jitter. */
  readonly random: number;
}
