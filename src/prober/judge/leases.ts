import type { Lease } from '../../kubernetes/api/lease.ts';

// How old is each lease? One clock decides, the API server's: it stamps each renewal, and each answer carries its `Date`. What we have watched bounds that.

/** One list of a shoot's leases. Times are monotonic milliseconds, except `serverNow`. */
export interface LeaseList {
  readonly items: readonly Lease[];
  /** When the request was sent: the list is not older. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The `Date` of the answer, in milliseconds since the epoch and to the second; without it our wall clock at `receivedAt`. */
  readonly serverNow: number;
  /** How far that is ahead of our wall clock, in milliseconds. Absent: unknown. */
  readonly skewMs?: number;
}

/** A lease as of one list. Times are monotonic milliseconds. */
export interface ObservedLease {
  readonly name: string;
  /** `spec.renewTime` and its stamp, only compared with those of other lists. */
  readonly renewTime?: number;
  readonly stampedAt?: number;
  readonly durationMs: number;
  /** When the first list that shows this `renewTime` had arrived: the renewal is not later. */
  readonly shownAt: number;
  /** When the list before that was sent: the renewal is later. -Infinity if we never saw the lease change. */
  readonly changedAfter: number;
  /** The last renewal, within those bounds. */
  readonly renewedAt: number;
  /** True if the stamp changed with the last change of `renewTime` that we saw: it is of that renewal, whatever the clock of the node says. */
  readonly isRestamped: boolean;
  /** True if no earlier list shows the lease. */
  readonly isNew: boolean;
  /** From when its silence counts: its renewal, or a later end of a failure of the API server. */
  readonly silentSince: number;
  /**
   * The lease counts as expired or silent from here on at the earliest. -Infinity if the API server's clock gives its age and agrees with ours; else the age rests
   * on one clock alone, the node's or that of one API server.
   */
  readonly trustedFrom: number;
  /** When it expires, or did, if it is not renewed. */
  readonly expiresAt: number;
}

/** A kubelet's default: `nodeLeaseDurationSeconds` in https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/. */
const defaultDurationMs = 40_000;
/** A kubelet renews after a quarter of the duration (`nodeLeaseRenewIntervalFraction` in kubernetes pkg/kubelet/kubelet.go). */
const intervalShare = 0.25;
/** We take no interval for longer than this: a longer one must not make an outage look like patience. */
const longestIntervalMs = 10_000;
/** A healthy kubelet renews within this many intervals. */
const intervalsToExpiry = 1.25;
/** The stamp is in whole seconds and by another clock than `renewTime`, in milliseconds. An older stamp is not of this renewal. */
const stampToleranceMs = 2_000;
/** Clocks that differ by less agree. With several API servers, one whose clock is wrong may have stamped or may answer. */
const agreedSkewMs = 5_000;

const renewalIntervalOf = ({ durationMs }: Pick<ObservedLease, 'durationMs'>): number =>
  Math.min(durationMs * intervalShare, longestIntervalMs);

/** Age at which a lease counts as expired, in milliseconds. */
export const expiryAgeOf = (
  lease: Pick<ObservedLease, 'durationMs'>,
  { expiryAgeMs }: { readonly expiryAgeMs: number },
): number => Math.max(expiryAgeMs, intervalsToExpiry * renewalIntervalOf(lease));

/** Returns a function that finds a lease by its name; fast for names that come in about the same order. */
const leaseFinder = (leases: readonly ObservedLease[]): ((name: string) => ObservedLease | undefined) => {
  let byName: ReadonlyMap<string, ObservedLease> | undefined;
  let next = 0;
  return (name) => {
    const lease = leases[next];
    next += 1;
    if (lease?.name === name) return lease;
    byName ??= new Map(leases.map((known) => [known.name, known]));
    return byName.get(name);
  };
};

/** Returns the age that the list itself shows, in milliseconds, and whose clock it rests on; undefined for a lease without `renewTime`. */
const ageInList = (
  { renewTime, stampedAt }: Lease,
  { serverNow, isRestamped }: Pick<LeaseList, 'serverNow'> & Pick<ObservedLease, 'isRestamped'>,
): { readonly ageMs: number; readonly stamped: boolean } | undefined => {
  if (renewTime === undefined) return undefined;
  const renewedMs = renewTime / 1_000;
  const stampMs = stampedAt === undefined ? Number.NEGATIVE_INFINITY : stampedAt / 1_000;
  const stamped = isRestamped || stampMs >= renewedMs - stampToleranceMs;
  return { ageMs: serverNow - (stamped ? stampMs : renewedMs), stamped };
};

export interface Observing {
  /** The leases of the list before, which was sent at `previousSentAt`. */
  readonly previous: readonly ObservedLease[];
  readonly previousSentAt: number;
  /** Silence counts from here: the end of the last time in which the API server failed. */
  readonly excusedUntil: number;
  readonly settings: { readonly expiryAgeMs: number };
}

/** Returns the leases of a list, each with its age by the API server's clock, bounded by what we have watched. */
export const observeLeases = (list: LeaseList, observing: Observing): readonly ObservedLease[] => {
  const { previous, previousSentAt, excusedUntil, settings } = observing;
  const find = leaseFinder(previous);
  return list.items.map((item): ObservedLease => {
    const { name, renewTime, stampedAt, durationSeconds } = item;
    const before = find(name);
    const hasChanged = before !== undefined && before.renewTime !== renewTime;
    const shownAt = before === undefined || hasChanged ? list.receivedAt : before.shownAt;
    const changedAfter = hasChanged ? previousSentAt : (before?.changedAfter ?? Number.NEGATIVE_INFINITY);
    const isRestamped = hasChanged
      ? stampedAt !== undefined && stampedAt !== before.stampedAt
      : before?.isRestamped === true;
    const age = ageInList(item, { serverNow: list.serverNow, isRestamped });
    // A lease without `renewTime` is as old as our watching of it.
    const byClock = age === undefined ? shownAt : list.receivedAt - age.ageMs;
    const renewedAt = Math.min(shownAt, Math.max(changedAfter, byClock));
    const trusted = age?.stamped === true && Math.abs(list.skewMs ?? 0) <= agreedSkewMs;
    const durationMs = durationSeconds === undefined ? defaultDurationMs : durationSeconds * 1_000;
    const silentSince = Math.max(renewedAt, excusedUntil);
    const trustedFrom = trusted ? Number.NEGATIVE_INFINITY : shownAt + renewalIntervalOf({ durationMs });
    const expiresAt = Math.max(silentSince + expiryAgeOf({ durationMs }, settings), trustedFrom);
    return {
      // The same string from list to list: a new one each time would leave the old one to the next garbage collection of the whole heap.
      name: before?.name ?? name,
      renewTime,
      stampedAt,
      isRestamped,
      durationMs,
      shownAt,
      changedAfter,
      renewedAt,
      isNew: before === undefined,
      silentSince,
      trustedFrom,
      expiresAt,
    };
  });
};

/** The parts of a response that show the server's wall clock. */
export interface DatedExchange {
  /** The `Date` header in milliseconds since the epoch, truncated to seconds. */
  readonly date: number | undefined;
  /** Our wall clock when the response had arrived. */
  readonly wallAtEnd: number;
  readonly roundTripMs: number;
}

/** Longest round trip, in milliseconds, whose header is precise enough: the server may have written it at any time during the exchange. */
const longestMeasuredMs = 2_000;

/**
 * Difference between an API server's wall clock and ours in milliseconds, for people, accurate to 1.5 s. Undefined if the exchange took too long to measure
 * it. (A response that etcd had delayed by 14 s was once reported as a clock difference.)
 */
export const measureSkew = ({ date, wallAtEnd, roundTripMs }: DatedExchange): number | undefined =>
  date === undefined || roundTripMs > longestMeasuredMs ? undefined : date + 500 - (wallAtEnd - roundTripMs / 2);
