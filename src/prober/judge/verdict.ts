import type { PoolConditions } from '../../gardener/candidate-nodes.ts';
import { type LeaseHistory, type LeaseObservation, emptyLeaseHistory } from './lease-history.ts';
import type { ApiError, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import type { ExternalProbeMode } from '../settings.ts';

/** Why a spell without a list of leases counts as downtime; `assumed`: the Deployment of the API server is not known, so it may have been. */
export type DowntimeEvidence = 'answers' | 'no-available-replica' | 'assumed';

export interface Downtime {
  readonly evidence: DowntimeEvidence;
  /** Infinity where its beginning was not seen. */
  readonly ms: number;
}

export type ReadError = ApiError | KubeconfigError;

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

/** Runs in a row that got no list of leases, and what they showed. */
export interface UnreachableSpell {
  /** Start of the first of them. */
  readonly since: number;
  /** The API server was reached, and failed: 5xx, 429, or no answer on a connection that stood. */
  readonly failed: boolean;
  /** No connection came about. */
  readonly unconnected: boolean;
  /** Nor did one for a fault of our own side. */
  readonly ours: boolean;
}

/** An outage, from its first verdict `unhealthy` until all that was held is restored. Times are monotonic milliseconds. */
export interface Outage {
  /** Candidates whose lease had expired before the outage: no landing waits for them. */
  readonly expiredBefore: ReadonlySet<string>;
  /** Since when the share of expired leases has been below the threshold, and since when all candidates have renewed. */
  readonly landing?: { readonly belowSince: number; readonly freshSince?: number | undefined };
  /** Monotonic instant at which the restoration began. */
  readonly landedAt?: number;
  /** No watch has shown yet whether anything is held: no outage is known of. */
  readonly isAssumed?: true;
}

/** Outages that came soon after a restoration. */
export interface Flapping {
  /** How many in a row came within ten minutes of the restoration before. */
  readonly trips: number;
  /** Monotonic instant of the latest restoration. */
  readonly restoredAt: number;
}

/** What lasts from run to run. */
export interface ProbeMemory {
  readonly history: LeaseHistory;
  /** The spell that lasts now. */
  readonly unreachable?: UnreachableSpell;
  /** End of the latest time in which the API server was down, or may have been, however short. */
  readonly downUntil?: number;
  /** The latest spell, in which we could not connect though the API server was up by all that the seed shows; until it is confirmed. */
  readonly doubt?: { readonly since: number; readonly until: number };
  /** Of the leases never seen to change: when they were first seen. */
  readonly firstSeenAt: ReadonlyMap<string, number>;
  /** Since this instant a lease was renewed for certain, whatever clocks say; absent while all of them are silent. */
  readonly renewedSince?: number;
  /** Leases that a first observation called expired and that a second observation has yet to confirm. */
  readonly unconfirmed: ReadonlySet<string>;
  /** Monotonic end of the latest time in which answers were late, or none came: kubelets may have had to try again as well. */
  readonly stalledUntil?: number;
  /** When all candidates were first seen to be silent; the verdict needs a second observation. */
  readonly allSilentSeenAt?: number;
  readonly outage?: Outage;
  readonly flapping?: Flapping;
  /** Runs in a row that failed while leases were known to be old, before or after they expired. */
  readonly failedRuns?: { readonly count: number; readonly isExpired: boolean };
  /** The longest time that an answer took in the latest run that got one, in milliseconds. */
  readonly slowestAnswerMs?: number;
}

export const emptyProbeMemory: ProbeMemory = {
  history: emptyLeaseHistory,
  firstSeenAt: new Map(),
  unconfirmed: new Set(),
};

export type FailureKind = 'api_server_unreachable' | 'kubeconfig_unusable' | 'lease_list_failed' | 'throttled';

export type Verdict =
  | {
      readonly kind: 'unhealthy';
      /** Monotonic instant at which the share of expired leases reached the threshold, all candidates counted as silent, or the external probe was decisive. */
      readonly crossedAt: number;
      /** How long before the share of expired leases would have reached the threshold that was, in milliseconds. */
      readonly earlyByMs?: number;
    }
  | { readonly kind: 'healthy'; readonly scope: 'all' | 'held' }
  | { readonly kind: 'skipped' }
  /** A scale-down that rests on timestamps alone or on the silence of all, or that comes right after a time in which only we were cut off: a second observation decides. */
  | { readonly kind: 'confirming' }
  /** The outage is over, but kubelets that are late are waited for: what is held stays held until `until`, a monotonic instant. */
  | { readonly kind: 'landing'; readonly renewed: number; readonly awaited: number; readonly until: number }
  | { readonly kind: 'failed'; readonly failure: FailureKind; readonly error: ReadError };

/** The one word for a verdict, in log, metrics and demo alike. */
export type VerdictWord = 'healthy' | 'unhealthy' | 'confirming' | 'landing' | 'skipped' | FailureKind;

export const wordOf = (verdict: Verdict): VerdictWord => (verdict.kind === 'failed' ? verdict.failure : verdict.kind);

export interface LeaseCounts {
  readonly candidates: number;
  readonly expired: number;
}

/** What a probe run has come to. */
export interface Decision {
  readonly verdict: Verdict;
  /** In words and numbers, for people. */
  readonly reason: string;
  /** Absent where nodes and machines were not listed. */
  readonly counts?: LeaseCounts;
  /** By name, why the other leases do not count, and the nodes that have none; absent where nodes and machines were not listed. */
  readonly leftOut?: ReadonlyMap<string, string>;
  /** How many nodes there are; absent as `leftOut` is. */
  readonly nodes?: number;
  /** Monotonic instant of the next run. */
  readonly nextRunAt: number;
  /** Monotonic instant from which another state of the external probe would turn the verdict; absent: it would not. */
  readonly verdictMayTurnAt?: number;
  readonly memory: ProbeMemory;
  /** A verdict `unhealthy` rests on leases that this process has itself seen to be renewed before they fell silent. */
  readonly restsOnSeenRenewals?: true;
  /** The API server was down until now, and the leases are given their time again. */
  readonly downtime?: Downtime;
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
