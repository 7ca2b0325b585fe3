import type { Lease } from '../../kubernetes/api/lease.ts';
import type { ObservedLease, ProbeMemory, ProbeSettings } from './judgement.ts';

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
/** While the external probe finds the public address unreachable, the silence of all needs this time, in milliseconds: one and a half of the longest renewal intervals. */
const triggeredMs = 15_000;

const renewalIntervalOf = ({ durationMs }: Pick<ObservedLease, 'durationMs'>): number =>
  Math.min(durationMs * intervalShare, longestIntervalMs);

/** Age at which a lease counts as expired, in milliseconds. */
export const expiryAgeOf = (lease: Pick<ObservedLease, 'durationMs'>, { expiryAgeMs }: ProbeSettings): number =>
  Math.max(expiryAgeMs, intervalsToExpiry * renewalIntervalOf(lease));

/** Age at which a lease counts as silent, in milliseconds. Infinity if the rule is off, or the kubelet need not have renewed when the lease expires. */
export const silentAgeOf = (lease: Pick<ObservedLease, 'durationMs'>, settings: ProbeSettings): number => {
  const halfMs = lease.durationMs / 2;
  const isDue = halfMs <= expiryAgeOf(lease, settings);
  if (!isDue) return Number.POSITIVE_INFINITY;
  const { allSilentAfterMs = Math.max(settings.graceMs / 2, halfMs), isTriggered = false } = settings;
  const usualMs = allSilentAfterMs === 0 ? Number.POSITIVE_INFINITY : allSilentAfterMs;
  return isTriggered ? Math.min(usualMs, triggeredMs) : usualMs;
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

/** Returns the leases of a list, each with its age by the API server's clock, bounded by what we have watched. */
export const observeLeases = (
  list: LeaseList,
  { leases, listedAt = Number.NEGATIVE_INFINITY, excusedUntil = Number.NEGATIVE_INFINITY }: ProbeMemory,
  settings: ProbeSettings,
): readonly ObservedLease[] => {
  const previous = new Map(leases.map((lease) => [lease.name, lease]));
  return list.items.map((item): ObservedLease => {
    const { name, renewTime, stampedAt, durationSeconds } = item;
    const before = previous.get(name);
    const hasChanged = before !== undefined && before.renewTime !== renewTime;
    const shownAt = before === undefined || hasChanged ? list.receivedAt : before.shownAt;
    const changedAfter = hasChanged ? listedAt : (before?.changedAfter ?? Number.NEGATIVE_INFINITY);
    const isRestamped = hasChanged
      ? stampedAt !== undefined && stampedAt !== before.stampedAt
      : before?.isRestamped === true;
    const age = ageInList(item, { serverNow: list.serverNow, isRestamped });
    // A lease without `renewTime` is as old as our watching of it.
    const byClock = age === undefined ? shownAt : list.receivedAt - age.ageMs;
    const renewedAt = Math.min(shownAt, Math.max(changedAfter, byClock));
    const isTrusted = age?.stamped === true && Math.abs(list.skewMs ?? 0) <= agreedSkewMs;
    const durationMs = durationSeconds === undefined ? defaultDurationMs : durationSeconds * 1_000;
    const silentSince = Math.max(renewedAt, excusedUntil);
    // An age by one clock alone counts once we have watched the lease unrenewed for an interval.
    const countsFrom = isTrusted ? Number.NEGATIVE_INFINITY : shownAt + renewalIntervalOf({ durationMs });
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
      isTrusted,
      expiresAt: Math.max(silentSince + expiryAgeOf({ durationMs }, settings), countsFrom),
      silentAt: Math.max(silentSince + silentAgeOf({ durationMs }, settings), countsFrom),
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
 * Difference between an API server's wall clock and ours in milliseconds, accurate to 1.5 s. Undefined if the exchange took too long to measure
 * it. (A response that etcd had delayed by 14 s was once reported as a clock difference.)
 */
export const measureSkew = ({ date, wallAtEnd, roundTripMs }: DatedExchange): number | undefined =>
  date === undefined || roundTripMs > longestMeasuredMs ? undefined : date + 500 - (wallAtEnd - roundTripMs / 2);
