import type { ObservedLease } from './leases.ts';
import type { Downtime } from './verdict.ts';

/** Consecutive runs that got no list of leases. Times are monotonic milliseconds. */
export interface Unanswered {
  /** Start of the run since which the API server has proved that it fails: it was reached and answered 5xx, or not at all. */
  readonly provedSince?: number;
  /** A failure that excuses silence, and that a time has followed in which we could not connect. */
  readonly excused?: Downtime;
  /** True if we could not connect in some run. */
  readonly isUnconnected: boolean;
}

/** An outage, from its first verdict `unhealthy` until all held resources are restored. Times are monotonic milliseconds. */
export interface Outage {
  /** Candidates whose lease had expired before the outage. A landing does not wait for them. */
  readonly expiredBefore: ReadonlySet<string>;
  /** Start of the time in which the share of expired leases is below the threshold, and of the time in which all candidates renew. */
  readonly landing?: { readonly belowSince: number; readonly freshSince?: number };
  /** Monotonic instant at which the restoration began. */
  readonly landedAt?: number;
  /** True if it began within ten minutes of the restoration before it. */
  readonly isFlapping?: boolean;
  /** True if no outage is known, but resources may be held because not all watches have synced. */
  readonly isAssumed?: boolean;
}

/** State that a shoot's prober keeps from run to run. Times are monotonic milliseconds. */
export interface ProbeMemory {
  /** The leases of the latest list, and when that was sent. */
  readonly leases: readonly ObservedLease[];
  readonly listedAt?: number;
  /** What the latest run that listed nodes and machines found: names of the nodes whose leases count. */
  readonly candidates?: { readonly at: number; readonly names: ReadonlySet<string> };
  readonly unanswered?: Unanswered;
  /** End of the latest failure of the API server that counts as an excuse: silence counts from here. */
  readonly excusedUntil?: number;
  /** End of the latest time in which only we could not connect. */
  readonly cutOffUntil?: number;
  /** An outage is suspected since a list that was sent at `since`; a list that is sent from `until` on confirms it. */
  readonly suspected?: { readonly since: number; readonly until: number };
  readonly outage?: Outage;
  /** Latest end of an outage. */
  readonly restoredAt?: number;
  /** Longest response time of the latest run that got a response, in milliseconds. */
  readonly slowestResponseMs?: number;
}

export const emptyProbeMemory: ProbeMemory = { leases: [] };
