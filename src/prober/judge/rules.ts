import type { ObservedLease, ProbeSettings } from './judgement.ts';

// Which leases show an outage? Age only grows while nobody renews, so a rule is one instant: it holds from then on, and a run is due then.

/** Fewer nodes prove nothing about the path. */
export const fewestCandidates = 2;
/** This many nodes that fall silent together have a common cause. */
const fewestSilent = 3;

type Instants = Pick<ObservedLease, 'expiresAt' | 'silentAt'>;
type Threshold = Pick<ProbeSettings, 'nodeLeaseFailureFraction'>;

/** Returns the n-th smallest value, counted from 1; Infinity if there are fewer. No value may be NaN. */
export const nthSmallest = (values: readonly number[], n: number): number =>
  Float64Array.from(values).sort()[n - 1] ?? Number.POSITIVE_INFINITY;

/** Returns how many of `all` candidates must have expired; one more than `all` if no number is enough. */
export const neededOf = (all: number, { nodeLeaseFailureFraction }: Threshold): number => {
  let count = 1;
  while (count <= all && count / all < nodeLeaseFailureFraction) count += 1;
  return count;
};

/** Returns from when on enough leases for `size` candidates have expired if none is renewed; Infinity for fewer than two leases. */
export const expiredFrom = (leases: readonly Instants[], settings: Threshold, size = leases.length): number => {
  if (leases.length < fewestCandidates) return Number.POSITIVE_INFINITY;
  const instants = leases.map(({ expiresAt }) => expiresAt);
  return nthSmallest(instants, neededOf(size, settings));
};

/**
 * Returns from when on all candidates count as silent if none renews. Kubelets renew at a quarter of their lease's duration, so of three or more healthy ones
 * some renews in any 10 s of 40: a common cause shows earlier than the death of a node. Candidates with a long duration are left out.
 */
const allSilentFrom = (candidates: readonly Instants[], settings: Threshold): number => {
  const due = candidates.map(({ silentAt }) => silentAt).filter(Number.isFinite);
  const isEnough = due.length >= Math.max(fewestSilent, neededOf(candidates.length, settings));
  return isEnough ? Math.max(...due) : Number.POSITIVE_INFINITY;
};

/** Returns from when on a rule holds if no candidate renews: enough of them have expired, or all are silent. Infinity: none can hold. */
export const outageFrom = (candidates: readonly Instants[], settings: Threshold): number =>
  Math.min(expiredFrom(candidates, settings), allSilentFrom(candidates, settings));

/** Returns from when on a rule holds of some subset: without nodes and machines, any leases may be those of the candidates. */
export const outageOfSomeFrom = (leases: readonly Instants[], settings: Threshold): number => {
  const silent = leases.map(({ silentAt }) => silentAt);
  return Math.min(expiredFrom(leases, settings, fewestCandidates), nthSmallest(silent, fewestSilent));
};

export const countExpired = (leases: readonly Instants[], at: number): number =>
  leases.filter(({ expiresAt }) => at >= expiresAt).length;
