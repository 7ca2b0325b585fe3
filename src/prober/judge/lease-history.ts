import type { Lease } from '../../kubernetes/api/lease.ts';

// Keeps what was observed of a shoot's leases: when each of them was last renewed. lease-expiry.ts judges if they are expired.

/** One list of the leases. Times are monotonic milliseconds, except `wall`. */
export interface LeaseObservation {
  /** Time at which the request for the list was sent. The list is not older than this. */
  readonly startedAt: number;
  /** Time at which the whole list had arrived. */
  readonly endedAt: number;
  /** Our wall clock at `endedAt`. */
  readonly wall: number;
  /** API server's wall clock minus ours; absent while it is within the error of measurement (`significantSkew` in clock-skew.ts). */
  readonly skewMs?: number;
  /** End of the run's last slow request. Until then the requests of kubelets may have hung as well. */
  readonly stalledUntil?: number;
}

/**
 * The leases of one shoot, kept from observation to observation. Times are monotonic milliseconds, except `renewTimes`. The data is in columns: every lease
 * is renewed between two observations, so one object per lease would be most of a prober's garbage.
 */
export interface LeaseHistory {
  /** Names in the order of the latest list; the same array as long as they do not change. `renewTimes` and `renewedAt` have the same order. */
  readonly names: readonly string[];
  /** `spec.renewTime` as the node wrote it, in microseconds since the epoch; -Infinity for a lease without one. Only compared with earlier values. */
  readonly renewTimes: readonly number[];
  /** Time of each lease's last credible renewal, not reset by downtime; -Infinity for a lease without `renewTime`. */
  readonly renewedAt: readonly number[];
  /** End of our first observation of each lease whose `renewTime` we never saw change: only its timestamp shows its age. */
  readonly neverSeenRenewed: ReadonlyMap<string, number>;
  /** Leases whose latest change does not match its timestamp: their age counts from the observation that showed the change. */
  readonly wrongClocks: ReadonlySet<string>;
  /** Start of the latest observation. */
  readonly lastObservedAt?: number;
  /** End of the last downtime of the API server. No lease counts as older. */
  readonly notOlderThan: number;
  /** Until this instant timestamps do not count. */
  readonly distrustUntil: number;
}

const never = Number.NEGATIVE_INFINITY;

export const emptyLeaseHistory: LeaseHistory = {
  names: [],
  renewTimes: [],
  renewedAt: [],
  neverSeenRenewed: new Map(),
  wrongClocks: new Set(),
  notOlderThan: never,
  distrustUntil: never,
};

/** A lease as the history has it after an observation. */
export interface RecordedLease {
  readonly name: string;
  /** Monotonic instant of its last credible renewal, not reset by downtime of the API server; -Infinity for none. */
  readonly renewedAt: number;
  /** True if the history had no such lease before this observation: only the timestamp shows its age. */
  readonly firstSeen: boolean;
  /** True if the lease was renewed since the previous observation. */
  readonly renewed: boolean;
  /** True if the latest change does not match its timestamp. */
  readonly wrongClock: boolean;
}

/** Tolerance, in milliseconds, between a node's timestamp and our observations. */
const timestampToleranceMs = 2_000;

/** Returns a function that finds the index of a name; fast for names that come in about the order of the array. */
const createFinder = (names: readonly string[]): ((name: string) => number | undefined) => {
  let places: ReadonlyMap<string, number> | undefined;
  let next = 0;
  return (name) => {
    if (names[next] !== name) {
      places ??= new Map(names.map((known, place) => [known, place]));
      const place = places.get(name);
      if (place === undefined) return undefined;
      next = place;
    }
    next += 1;
    return next - 1;
  };
};

/**
 * Enters an observation into the history.
 *
 * Like KCM's node lifecycle controller, it judges a renewal by when we saw the lease change, so that a node with a wrong clock does not count as dead.
 * Unlike KCM, which ignores a `renewTime` that goes back, it counts every change: the kubelet reached its API server.
 * The lease's own timestamp counts if it agrees with what we saw, and on the first observation, when nothing else is known.
 * A timestamp in the future counts as "now": a renewal cannot be later than the observation that shows it.
 */
export const recordLeases = (
  history: LeaseHistory,
  leases: readonly Lease[],
  observation: LeaseObservation,
): { readonly history: LeaseHistory; readonly recorded: readonly RecordedLease[] } => {
  const findPlace = createFinder(history.names);
  // If our own clock is wrong, the nodes' clocks agree with the API server's.
  const byServer = { ...observation, wall: observation.wall + (observation.skewMs ?? 0) };
  const renewTimes = leases.map(({ renewTime = never }) => renewTime);
  const neverSeenRenewed = new Map<string, number>();
  const wrongClocks = new Set<string>();
  let sameNames = leases.length === history.names.length;
  const recorded = leases.map(({ name: given, renewTime = never }, index): RecordedLease => {
    const place = findPlace(given);
    if (place !== index) sameNames = false;
    const firstSeen = place === undefined;
    const renewed = !firstSeen && history.renewTimes[place] !== renewTime;
    const known = firstSeen || renewed ? undefined : history.renewedAt[place];
    const renewedAt = known ?? effectiveRenewal(history, renewTime, { observation, firstSeen });
    // Reuses the string of the previous observation; otherwise each observation would keep its own copies of the names.
    const name = firstSeen ? given : (history.names[place] ?? given);
    const firstSeenAt = firstSeen ? observation.endedAt : history.neverSeenRenewed.get(name);
    if (firstSeenAt !== undefined && !renewed) neverSeenRenewed.set(name, firstSeenAt);
    const wrongClock = renewed
      ? !agrees(history, renewTime, observation) && !agrees(history, renewTime, byServer)
      : history.wrongClocks.has(name);
    if (wrongClock) wrongClocks.add(name);
    return { name, renewedAt, firstSeen, renewed, wrongClock };
  });
  const names = sameNames ? history.names : recorded.map(({ name }) => name);
  const renewedAt = recorded.map((lease) => lease.renewedAt);
  const { startedAt: lastObservedAt } = observation;
  return {
    history: { ...history, names, renewTimes, renewedAt, neverSeenRenewed, wrongClocks, lastObservedAt },
    recorded,
  };
};

/**
 * Returns the monotonic instant from which the age of a lease counts: its last renewal (`renewedAt`), or the end of a later downtime of the API server;
 * -Infinity for a lease without `renewTime`.
 */
export const ageCountsFrom = ({ notOlderThan }: LeaseHistory, renewedAt: number): number =>
  renewedAt === never ? never : Math.max(renewedAt, notOlderThan);

/** Returns for each lease the instant from which its age counts. */
export const renewalsOf = (history: LeaseHistory): readonly number[] =>
  history.renewedAt.map((at) => ageCountsFrom(history, at));

/** True if one of the leases with these names was renewed since the latest observation. */
export const isAnyRenewed = (history: LeaseHistory, leases: readonly Lease[], names: ReadonlySet<string>): boolean => {
  if (names.size === 0) return false;
  const findPlace = createFinder(history.names);
  return leases.some(({ name, renewTime = never }) => {
    const place = names.has(name) ? findPlace(name) : undefined;
    return place !== undefined && history.renewTimes[place] !== renewTime;
  });
};

const effectiveRenewal = (
  history: LeaseHistory,
  renewTime: number,
  { observation, firstSeen }: { readonly observation: LeaseObservation; readonly firstSeen: boolean },
): number => {
  if (renewTime === never) return never;
  if (observation.endedAt < history.distrustUntil) return observation.endedAt;
  const age = ageOf(renewTime, observation);
  if (firstSeen) {
    const ageByServer = age + (observation.skewMs ?? 0);
    return observation.endedAt - Math.max(0, Math.min(age, ageByServer));
  }
  return observation.endedAt - (agrees(history, renewTime, observation) ? Math.max(0, age) : 0);
};

/** Age of a timestamp by our wall clock, in milliseconds. */
const ageOf = (renewTime: number, { wall }: LeaseObservation): number => wall - Math.floor(renewTime / 1_000);

/** True if a new `renewTime` lies between the previous observation and the one that shows it, or if the lease has no `renewTime`. */
const agrees = (
  { lastObservedAt = never }: LeaseHistory,
  renewTime: number,
  observation: LeaseObservation,
): boolean => {
  if (renewTime === never) return true;
  const age = ageOf(renewTime, observation);
  return age >= -timestampToleranceMs && age <= observation.endedAt - lastObservedAt + timestampToleranceMs;
};

/** Resets the age of all leases after downtime of the API server, in which no kubelet could renew: none counts as older than its end (monotonic `at`). */
export const resetAges = (history: LeaseHistory, at: number): LeaseHistory => ({
  ...history,
  notOlderThan: Math.max(history.notOlderThan, at),
});

/**
 * Ignores timestamps after they proved wrong (a lease expired by its timestamp was renewed right afterwards): for `expiryAgeMs` after the disproved
 * observation only observed renewals count. The `disproved` leases and all that were never seen renewed count as no older than that observation.
 */
export const distrustTimestamps = (
  history: LeaseHistory,
  { disproved, expiryAgeMs }: { readonly disproved: ReadonlySet<string>; readonly expiryAgeMs: number },
): LeaseHistory => {
  const { lastObservedAt } = history;
  if (lastObservedAt === undefined) return history;
  const renewedAt = history.renewedAt.map((at, place) => {
    const name = history.names[place] ?? '';
    const isDistrusted =
      history.renewTimes[place] !== never && (history.neverSeenRenewed.has(name) || disproved.has(name));
    return isDistrusted ? Math.max(at, lastObservedAt) : at;
  });
  return { ...history, renewedAt, distrustUntil: lastObservedAt + expiryAgeMs };
};
