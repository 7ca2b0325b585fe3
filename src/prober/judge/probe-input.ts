import type { PoolConditions } from '../../gardener/candidate-nodes.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import type { ExternalProbeMode } from '../settings.ts';
import type { LeaseObservation } from './lease-history.ts';
import type { ProbeMemory } from './probe-memory.ts';

/** A list of the leases, and when it was made. */
export interface LeaseList {
  readonly items: readonly Lease[];
  readonly observation: LeaseObservation;
}

export interface DependentsView {
  /** All watches synced, no flow runs, and every resource that is there is up, ready and without annotations of ours. */
  readonly undisturbed: boolean;
  /** Some resource carries the mark of meltdown protection. */
  readonly anyHeld: boolean;
  /** Some resource carries the mark, or may: no watch has shown yet whether it does. */
  readonly mayBeHeld: boolean;
}

export interface ProbeSettings {
  readonly probeIntervalMs: number;
  readonly backoffJitterFactor: number;
  /** Age at which a lease counts as expired: 0.75 of the shoot's node monitor grace period. */
  readonly expiryAgeMs: number;
  /** The shoot's node monitor grace period. */
  readonly graceMs: number;
  /** How long no candidate may renew until all count as cut off; absent: it goes by the leases, 0: that rule is off. */
  readonly allSilentAfterMs?: number;
  /** How long a restoration waits for kubelets that are late; 0: it does not. */
  readonly landingTimeoutMs: number;
  readonly nodeLeaseFailureFraction: number;
  readonly poolConditions: PoolConditions;
}

export type Reachability = 'unknown' | 'reachable' | 'unreachable';

/** The external probe as it counts in a verdict. */
export interface ExternalProbeView {
  readonly mode: ExternalProbeMode;
  readonly state: Reachability;
  /** Monotonic instant from which an unreachable address counts. */
  readonly since?: number;
}

/** What the seed shows of the API server's own Deployment (`apiServerRef`). Monotonic milliseconds. */
export interface ApiServerView {
  /** Since when it has been watched without a gap. Absent: it is not known now. */
  readonly knownSince?: number;
  /** The latest time without an available replica, from -Infinity where it was found so; `until` is absent while it lasts. */
  readonly unavailable?: { readonly since: number; readonly until?: number };
}

/** What a probe run is judged by besides what it reads. Times are monotonic milliseconds. */
export interface ProbeInput {
  readonly settings: ProbeSettings;
  /** Of the run before. */
  readonly memory: ProbeMemory;
  readonly dependents: DependentsView;
  /** Absent: nothing is known of the API server's Deployment. */
  readonly apiServer?: ApiServerView;
  /** Absent where no external probe is to be taken into account. */
  readonly externalProbe?: ExternalProbeView;
  readonly now: number;
  /** In [0, 1), for the jitter. */
  readonly random: number;
}
