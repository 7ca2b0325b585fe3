import { type LeaseHistory, emptyLeaseHistory } from './lease-history.ts';

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
