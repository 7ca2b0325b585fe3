import type { Lease } from '../../kubernetes/api/lease.ts';

/** One list of the leases. Times are monotonic milliseconds, except `wall`. */
export interface LeaseObservation {
  /** When the request for the list was sent: what it shows is not older than this. */
  readonly startedAt: number;
  /** When the whole list had arrived. */
  readonly endedAt: number;
  /** Our wall clock at `endedAt`. */
  readonly wall: number;
  /** API server's wall clock minus ours, where the difference is more than its measurement allows (`significantSkew` in clock-skew.ts). */
  readonly skewMs?: number;
  /** Monotonic end of the run's last slow request: until then those of kubelets may have hung as well (downtime.ts). */
  readonly stalledUntil?: number;
}

/**
 * The leases of one shoot, from observation to observation. Times are monotonic milliseconds, except `renewTimes`. In columns: every lease is renewed between two
 * observations, so an entry for each would be most of a prober's garbage.
 */
export interface LeaseHistory {
  /** Names in the order of the latest list; the same array as long as they do not change. The arrays below have the same order. */
  readonly names: readonly string[];
  /** `spec.renewTime` as the node wrote it, in microseconds since the epoch; -Infinity for a lease without one. Compared, never used as a time of ours. */
  readonly renewTimes: readonly number[];
  /** When each lease was last renewed, as far as it can be believed, downtime not counted; -Infinity for a lease without `renewTime`. */
  readonly renewedAt: readonly number[];
  /** Leases whose `renewTime` we never saw change: only their timestamps speak. */
  readonly neverSeenRenewed: ReadonlySet<string>;
  /** Leases whose latest change did not come when its timestamp says: as old as the observation that saw it. */
  readonly wrongClocks: ReadonlySet<string>;
  /** Start of the latest observation. */
  readonly lastObservedAt?: number;
  /** No lease counts as older than this: the end of the last downtime of the API server. */
  readonly notOlderThan: number;
  /** Until then timestamps count for nothing. */
  readonly distrustUntil: number;
}

const never = Number.NEGATIVE_INFINITY;

export const emptyLeaseHistory: LeaseHistory = {
  names: [],
  renewTimes: [],
  renewedAt: [],
  neverSeenRenewed: new Set(),
  wrongClocks: new Set(),
  notOlderThan: never,
  distrustUntil: never,
};

export interface JudgedLease {
  readonly name: string;
  /** Monotonic instant of its latest renewal, as far as it can be believed; -Infinity for none. Downtime of the API server does not count here. */
  readonly renewedAt: number;
  /** Monotonic instant at which the lease expires (or expired) if it is not renewed. */
  readonly expiresAt: number;
  readonly expired: boolean;
  /** Not in the history before this observation: only its timestamp speaks. */
  readonly firstSeen: boolean;
  /** Renewed since the previous observation. */
  readonly renewed: boolean;
  /** The latest change did not come when its timestamp says. */
  readonly wrongClock: boolean;
}

/** Tolerance, in milliseconds, between a node's timestamp and our observations. */
const timestampToleranceMs = 2_000;

/** Finds the places of names that are asked for in about the order in which they stand. */
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
 * Enters an observation into the history and judges every lease: it expires `expiryAgeMs` after its last renewal.
 *
 * As KCM's node lifecycle controller does, a lease is judged by when we saw it change, so that a node with a wrong clock is not taken
 * for a dead one; its own timestamp counts where it agrees with what we saw, and on the first observation, where there is nothing else.
 * A timestamp in the future counts as "now": a renewal cannot lie ahead of the observation that shows it.
 */
export const enterAndJudgeLeases = (
  history: LeaseHistory,
  leases: readonly Lease[],
  { observation, expiryAgeMs }: { readonly observation: LeaseObservation; readonly expiryAgeMs: number },
): { readonly history: LeaseHistory; readonly judged: readonly JudgedLease[] } => {
  const findPlace = createFinder(history.names);
  // Where it is our clock that is wrong, those of the nodes are not.
  const byServer = { ...observation, wall: observation.wall + (observation.skewMs ?? 0) };
  const renewTimes = leases.map(({ renewTime = never }) => renewTime);
  const renewedAt = Array.from(renewTimes);
  const neverSeenRenewed = new Set<string>();
  const wrongClocks = new Set<string>();
  let sameNames = leases.length === history.names.length;
  const judged = leases.map(({ name: given, renewTime = never }, index): JudgedLease => {
    const place = findPlace(given);
    if (place !== index) sameNames = false;
    const firstSeen = place === undefined;
    const renewed = !firstSeen && history.renewTimes[place] !== renewTime;
    const known = firstSeen || renewed ? undefined : history.renewedAt[place];
    const countsFrom = known ?? effectiveRenewal(history, renewTime, { observation, firstSeen });
    // The string of the observation before: else each observation would keep names of its own.
    const name = firstSeen ? given : (history.names[place] ?? given);
    if (firstSeen || (!renewed && history.neverSeenRenewed.has(name))) neverSeenRenewed.add(name);
    const wrongClock = renewed
      ? !agrees(history, renewTime, observation) && !agrees(history, renewTime, byServer)
      : history.wrongClocks.has(name);
    if (wrongClock) wrongClocks.add(name);
    renewedAt[index] = countsFrom;
    const expiresAt = (renewTime === never ? countsFrom : Math.max(countsFrom, history.notOlderThan)) + expiryAgeMs;
    return {
      name,
      renewedAt: countsFrom,
      expiresAt,
      expired: observation.startedAt >= expiresAt,
      firstSeen,
      renewed,
      wrongClock,
    };
  });
  const names = sameNames ? history.names : judged.map(({ name }) => name);
  return {
    history: {
      ...history,
      names,
      renewTimes,
      renewedAt,
      neverSeenRenewed,
      wrongClocks,
      lastObservedAt: observation.startedAt,
    },
    judged,
  };
};

/** From when the age of each lease counts, monotonic: its last renewal, or the end of a downtime after it. */
export const renewalsOf = ({ renewedAt, renewTimes, notOlderThan }: LeaseHistory): readonly number[] =>
  renewedAt.map((at, place) => (renewTimes[place] === never ? at : Math.max(at, notOlderThan)));

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
  if (firstSeen || history.lastObservedAt === undefined) {
    const ageByServer = age + (observation.skewMs ?? 0);
    return observation.endedAt - Math.max(0, Math.min(age, ageByServer));
  }
  return observation.endedAt - (agrees(history, renewTime, observation) ? Math.max(0, age) : 0);
};

/** By our clock, in milliseconds. */
const ageOf = (renewTime: number, { wall }: LeaseObservation): number => wall - Math.floor(renewTime / 1_000);

/** True if a new `renewTime` lies between the previous observation and the one that shows it, or if there is none. */
const agrees = (
  { lastObservedAt = never }: LeaseHistory,
  renewTime: number,
  observation: LeaseObservation,
): boolean => {
  if (renewTime === never) return true;
  const age = ageOf(renewTime, observation);
  return age >= -timestampToleranceMs && age <= observation.endedAt - lastObservedAt + timestampToleranceMs;
};

/** After downtime of the API server, in which nobody could renew: no lease is older than its end (monotonic `at`). */
export const resetAges = (history: LeaseHistory, at: number): LeaseHistory => ({
  ...history,
  notOlderThan: Math.max(history.notOlderThan, at),
});

/**
 * Timestamps proved wrong (a lease that they called expired was renewed right after): for `expiryAgeMs` from the observation that was disproved, only
 * what was seen counts. `disproved` and all leases that were never seen to change are as old as that observation at most.
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
