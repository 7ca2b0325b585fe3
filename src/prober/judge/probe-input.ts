import type { PoolConditions } from '../../gardener/candidate-nodes.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import type { ExternalProbeMode } from '../settings.ts';
import type { LeaseObservation } from './lease-history.ts';
import type { ProbeMemory } from './probe-memory.ts';

/** A list of the leases, with its times. */
export interface LeaseList {
  readonly items: readonly Lease[];
  readonly observation: LeaseObservation;
}

export interface DependentsView {
  /** True if all watches have synced, no flow runs, and every existing resource is scaled up, ready and without our annotations. */
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
  /** If no candidate renews for this long, all count as cut off. Absent: half of the longest lease duration or of `graceMs`, the longer. 0: never. */
  readonly allSilentAfterMs?: number;
  /** Longest time that a restoration waits for late kubelets. 0: it does not wait. */
  readonly landingTimeoutMs: number;
  readonly nodeLeaseFailureFraction: number;
  readonly poolConditions: PoolConditions;
}

export type Reachability = 'unknown' | 'reachable' | 'unreachable';

/** State of the external probe, as the rules of a verdict use it. */
export interface ExternalProbeView {
  readonly mode: ExternalProbeMode;
  readonly state: Reachability;
  /** Monotonic instant from which an unreachable address counts. */
  readonly since?: number;
}

/** State of the API server's own Deployment (`apiServerRef`) in the seed. Times are monotonic milliseconds. */
export interface ApiServerView {
  /** Start of the watch that has had no gap since. Absent if the Deployment's state is not known now. */
  readonly knownSince?: number;
  /** The latest time without a ready replica. `since` is -Infinity if it began before the watch; `until` is absent while it lasts. */
  readonly unavailable?: { readonly since: number; readonly until?: number };
}

/** Input of the judgement, besides the lists that the run reads. Times are monotonic milliseconds. */
export interface ProbeInput {
  readonly settings: ProbeSettings;
  /** The memory that the previous run returned. */
  readonly memory: ProbeMemory;
  readonly dependents: DependentsView;
  /** Absent if the API server's Deployment is not known. */
  readonly apiServer?: ApiServerView;
  /** Absent if no external probe counts. */
  readonly externalProbe?: ExternalProbeView;
  readonly now: number;
  /** Random number in [0, 1), for the jitter. */
  readonly random: number;
}
