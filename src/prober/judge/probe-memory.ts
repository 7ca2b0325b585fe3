import { type LeaseHistory, emptyLeaseHistory } from './lease-history.ts';

/** Consecutive runs that got no list of leases, and the kinds of failure among them. */
export interface UnreachableSpell {
  /** Start of the first run, in monotonic milliseconds. */
  readonly since: number;
  /** True if the API server was reached and failed: 5xx, 429, an invalid response, or none on an established connection. */
  readonly failed: boolean;
  /** True if a connection could not be established. */
  readonly unconnected: boolean;
  /** True if a request failed because of a fault on our side. */
  readonly ours: boolean;
}

/** An outage, from its first verdict `unhealthy` until all held resources are restored. Times are monotonic milliseconds. */
export interface Outage {
  /** Candidates whose lease had expired before the outage. A landing does not wait for them. */
  readonly expiredBefore: ReadonlySet<string>;
  /** Start of the time in which the share of expired leases is below the threshold, and of the time in which all candidates renew. */
  readonly landing?: { readonly belowSince: number; readonly freshSince?: number | undefined };
  /** Monotonic instant at which the restoration began. */
  readonly landedAt?: number;
  /** True if no outage is known, but resources may be held because not all watches have synced. */
  readonly isAssumed?: true;
}

/** Outages that began soon after a restoration. */
export interface Flapping {
  /** Number of consecutive outages that each began within ten minutes of the previous restoration. */
  readonly trips: number;
  /** Monotonic instant of the latest restoration. */
  readonly restoredAt: number;
}

/** State that a shoot's prober keeps from run to run. Times are monotonic milliseconds. */
export interface ProbeMemory {
  readonly history: LeaseHistory;
  /** The current spell. */
  readonly unreachableSpell?: UnreachableSpell;
  /** End of the latest time, however short, in which the API server was down or may have been. */
  readonly downUntil?: number;
  /**
   * The latest unconfirmed spell: as far as is known, only we were cut off in it, but a late watch may still show that the API server was down. Kept until a
   * list that begins 5 s after its end, or until proof of downtime.
   */
  readonly unconfirmedSpell?: { readonly since: number; readonly until: number };
  /** A lease was certainly renewed after this instant, even if clocks are wrong. Absent while all leases are silent. */
  readonly renewedSince?: number;
  /** Leases that are expired by their timestamps alone; a second observation has yet to confirm them. */
  readonly unconfirmedLeases: ReadonlySet<string>;
  /** End of the latest time in which responses were late or missing. Kubelets may have had to retry as well. */
  readonly stalledUntil?: number;
  /** First observation of the silence of all candidates. The verdict needs a second one. */
  readonly allSilentSeenAt?: number;
  readonly outage?: Outage;
  readonly flapping?: Flapping;
  /** Failed runs in a row since enough leases were half expired; counted again from the time at which enough have expired. */
  readonly failedRuns?: { readonly count: number; readonly isExpired: boolean };
  /** Longest response time of the latest run that got a response, in milliseconds. */
  readonly slowestResponseMs?: number;
}

export const emptyProbeMemory: ProbeMemory = {
  history: emptyLeaseHistory,
  unconfirmedLeases: new Set(),
};
