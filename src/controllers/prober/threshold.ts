import type { JudgedLease } from '../../domain/index.ts';
import type { Counts, DependentsView, ProbeSettings } from './verdict.ts';

export const countExpired = (leases: readonly JudgedLease[]): number => leases.filter(({ expired }) => expired).length;
/** `expired/all`, for people. */
export const share = (leases: readonly JudgedLease[]): string =>
  `${String(countExpired(leases))}/${String(leases.length)}`;

export const reaches = ({ expired, candidates }: Counts, { nodeLeaseFailureFraction }: ProbeSettings): boolean =>
  expired / candidates >= nodeLeaseFailureFraction;

/** Whether some subset of two or more leases reaches the threshold; the worst one pairs the expired with as few others as there must be. */
export const mayReach = (leases: readonly JudgedLease[], settings: ProbeSettings): boolean => {
  const expired = countExpired(leases);
  if (leases.length < 2 || expired === 0) return false;
  return expired >= 2 || reaches({ expired, candidates: 2 }, settings);
};

/** Whether neither nodes nor machines could change what happens: a scale-up has nothing to do, and there is no scale-down. */
export const canOnlyBeHealthy = (
  leases: readonly JudgedLease[],
  { undisturbed }: DependentsView,
  settings: ProbeSettings,
): boolean => undisturbed && !mayReach(leases, settings);

const inOrder = (leases: readonly JudgedLease[]): readonly number[] =>
  leases.map(({ expiresAt }) => expiresAt).sort((a, b) => a - b);

/** The first instant at which some subset of two or more leases would reach the threshold if none were renewed. */
export const earliestPossibleExpiry = (leases: readonly JudgedLease[], settings: ProbeSettings): number | undefined => {
  const needed = reaches({ expired: 1, candidates: 2 }, settings) ? 1 : 2;
  return leases.length < 2 ? undefined : inOrder(leases)[needed - 1];
};

/** The first instant at which the candidates would reach the threshold if none were renewed. */
export const thresholdInstant = (candidates: readonly JudgedLease[], settings: ProbeSettings): number | undefined =>
  inOrder(candidates).find((_, index) => reaches({ expired: index + 1, candidates: candidates.length }, settings));
