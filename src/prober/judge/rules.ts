import { expiryAgeOf, type ObservedLease } from './leases.ts';
import type { ProbeSettings } from './judgement.ts';

// Which leases show an outage? Age only grows while nobody renews, so a rule is one instant: it holds from then on, and a run is due then.

/** This many nodes that fall silent together have a common cause. */
const fewestSilent = 3;
/** While the external probe finds the public address unreachable, the silence of all needs this time, in milliseconds: one and a half of the longest renewal intervals. */
const triggeredMs = 15_000;

/** Returns the n-th smallest value, counted from 1; Infinity if there are fewer. No value may be NaN. */
export const nthSmallest = (values: readonly number[], n: number): number =>
  Float64Array.from(values).sort()[n - 1] ?? Number.POSITIVE_INFINITY;

const reaches = (
  count: number,
  all: number,
  { nodeLeaseFailureFraction }: Pick<ProbeSettings, 'nodeLeaseFailureFraction'>,
): boolean => count / all >= nodeLeaseFailureFraction;

/** Returns how many of `all` candidates must have expired; one more than `all` if no number is enough. */
export const neededOf = (all: number, settings: Pick<ProbeSettings, 'nodeLeaseFailureFraction'>): number => {
  let count = 1;
  while (count <= all && !reaches(count, all, settings)) count += 1;
  return count;
};

/** True if the kubelet would have renewed before the lease expires: half of its duration is not longer than that. */
const isDue = (lease: ObservedLease, settings: ProbeSettings): boolean =>
  lease.durationMs / 2 <= expiryAgeOf(lease, settings);

/** Returns from when on the lease counts as silent if it is not renewed; Infinity if the rule is off. */
const silentAt = (lease: ObservedLease, settings: ProbeSettings): number => {
  const { allSilentAfterMs, graceMs, isTriggered = false } = settings;
  const usualMs = allSilentAfterMs ?? Math.max(graceMs / 2, lease.durationMs / 2);
  const afterMs = Math.min(
    usualMs === 0 ? Number.POSITIVE_INFINITY : usualMs,
    isTriggered ? triggeredMs : Number.POSITIVE_INFINITY,
  );
  return Math.max(lease.silentSince + afterMs, lease.trustedFrom);
};

const silentInstants = (leases: readonly ObservedLease[], settings: ProbeSettings): readonly number[] =>
  leases.filter((lease) => isDue(lease, settings)).map((lease) => silentAt(lease, settings));

/** Returns from when on enough candidates have expired if none renews; Infinity for fewer than two. */
export const expiredFrom = (candidates: readonly ObservedLease[], settings: ProbeSettings): number =>
  candidates.length < 2
    ? Number.POSITIVE_INFINITY
    : nthSmallest(
        candidates.map(({ expiresAt }) => expiresAt),
        neededOf(candidates.length, settings),
      );

/**
 * Returns from when on all candidates count as silent if none renews. Kubelets renew at a quarter of their lease's duration, so of three or more healthy ones
 * some renews in any 10 s of 40: a common cause shows earlier than the death of a node. Candidates with a long duration are left out.
 */
const allSilentFrom = (candidates: readonly ObservedLease[], settings: ProbeSettings): number => {
  const due = silentInstants(candidates, settings);
  if (due.length < fewestSilent || !reaches(due.length, candidates.length, settings)) return Number.POSITIVE_INFINITY;
  return Math.max(...due);
};

/** Returns from when on a rule holds if no candidate renews: enough of them have expired, or all are silent. Infinity: none can hold. */
export const outageFrom = (candidates: readonly ObservedLease[], settings: ProbeSettings): number =>
  Math.min(expiredFrom(candidates, settings), allSilentFrom(candidates, settings));

/** Returns from when on some two or more of the leases have expired in sufficient numbers if none is renewed. */
export const expiredOfSomeFrom = (leases: readonly ObservedLease[], settings: ProbeSettings): number =>
  leases.length < 2
    ? Number.POSITIVE_INFINITY
    : nthSmallest(
        leases.map(({ expiresAt }) => expiresAt),
        neededOf(2, settings),
      );

/** Returns from when on a rule holds of some subset: without nodes and machines, any leases may be those of the candidates. */
export const outageOfSomeFrom = (leases: readonly ObservedLease[], settings: ProbeSettings): number =>
  Math.min(expiredOfSomeFrom(leases, settings), nthSmallest(silentInstants(leases, settings), fewestSilent));

export const countExpired = (leases: readonly ObservedLease[], at: number): number =>
  leases.reduce((count, { expiresAt }) => (at >= expiresAt ? count + 1 : count), 0);
