import type { JudgedLease } from './lease-expiry.ts';
import type { DependentsView, ProbeSettings } from './probe-input.ts';
import type { LeaseCounts } from './verdict.ts';

// Compares the share of expired leases with the threshold, now and at later instants. A single lease is judged in lease-expiry.ts.

/** Returns the n-th smallest value, counted from 1; undefined if there are fewer values. No value may be NaN. */
export const nthSmallest = (values: readonly number[], n: number): number | undefined =>
  Float64Array.from(values).sort()[n - 1];

export const countExpired = (leases: readonly JudgedLease[]): number =>
  leases.reduce((count, { expired }) => (expired ? count + 1 : count), 0);

/** Returns `expired/all`, for people. */
export const share = (leases: readonly JudgedLease[]): string =>
  `${String(countExpired(leases))}/${String(leases.length)}`;

export const reachesThreshold = (
  { expired, candidates }: LeaseCounts,
  { nodeLeaseFailureFraction }: ProbeSettings,
): boolean => expired / candidates >= nodeLeaseFailureFraction;

/** True if some subset of two or more of `all` leases reaches the threshold. The worst case is a subset with as few unexpired leases as possible. */
const someSubsetReaches = (
  { expired, all }: { readonly expired: number; readonly all: number },
  settings: ProbeSettings,
) => {
  if (all < 2 || expired === 0) return false;
  return expired >= 2 || reachesThreshold({ expired, candidates: 2 }, settings);
};

const mayReach = (leases: readonly JudgedLease[], settings: ProbeSettings): boolean =>
  someSubsetReaches({ expired: countExpired(leases), all: leases.length }, settings);

/** True if, at the instant `at`, some subset of two or more leases that expire at `expiresAt` would reach the threshold. */
export const mayReachAt = (expiresAt: readonly number[], at: number, settings: ProbeSettings): boolean =>
  someSubsetReaches({ expired: expiresAt.filter((instant) => at >= instant).length, all: expiresAt.length }, settings);

/** True if neither nodes nor machines could change the decision: there is nothing to scale up, and no subset of the leases reaches the threshold. */
export const canOnlyBeHealthy = (
  leases: readonly JudgedLease[],
  { nothingToRestore }: DependentsView,
  settings: ProbeSettings,
): boolean => nothingToRestore && !mayReach(leases, settings);

const nthExpiry = (leases: readonly JudgedLease[], count: number): number | undefined =>
  nthSmallest(
    leases.map(({ expiresAt }) => expiresAt),
    count,
  );

/** Returns the first instant at which some subset of two or more leases would reach the threshold if none were renewed. */
export const earliestPossibleThreshold = (
  leases: readonly JudgedLease[],
  settings: ProbeSettings,
): number | undefined =>
  earliestReach(
    leases.map(({ expiresAt }) => expiresAt),
    settings,
  );

/** Returns the first instant at which two or more leases that expire at `expiresAt` could reach the threshold. */
export const earliestReach = (expiresAt: readonly number[], settings: ProbeSettings): number | undefined => {
  const needed = reachesThreshold({ expired: 1, candidates: 2 }, settings) ? 1 : 2;
  return expiresAt.length < 2 ? undefined : nthSmallest(expiresAt, needed);
};

/** Returns the first instant at which the candidates would reach the threshold if none were renewed. */
export const thresholdInstant = (leases: readonly JudgedLease[], settings: ProbeSettings): number | undefined =>
  nthExpiry(leases, neededOf(leases.length, settings));

/** Returns the number of expired candidates that reaches the threshold; one more than `candidates` if no number does. */
export const neededOf = (candidates: number, settings: ProbeSettings): number => {
  let expired = 1;
  while (expired <= candidates && !reachesThreshold({ expired, candidates }, settings)) expired += 1;
  return expired;
};

/** If this share of the candidates has wrong clocks, the leases are listed every `wrongClocksPaceMs`. */
const wrongClocksShare = 0.25;
const wrongClocksPaceMs = 3_000;

const hasWrongClock = ({ wrongClock }: JudgedLease): boolean => wrongClock;

/**
 * Returns the instant at which wrong clocks require the next list of leases; undefined if too few clocks are wrong. With a wrong clock a renewal counts from
 * the observation that showed it, so an outage would be detected late by the time between two observations.
 */
export const wrongClocksDeadline = (candidates: readonly JudgedLease[], now: number): number | undefined => {
  const wrongShare = candidates.filter(hasWrongClock).length / candidates.length;
  return candidates.length >= 2 && wrongShare >= wrongClocksShare ? now + wrongClocksPaceMs : undefined;
};

/** Returns that instant if the candidates are not known: some two or more of the leases may be candidates with enough wrong clocks. */
export const earliestWrongClocksDeadline = (leases: readonly JudgedLease[], now: number): number | undefined =>
  leases.length >= 2 && leases.some(hasWrongClock) ? now + wrongClocksPaceMs : undefined;
