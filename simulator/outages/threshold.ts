/** Expiry age of a lease, as a fraction of the grace period. */
const limitOfGrace = 0.75;
/** Lease duration of the simulated kubelets. */
const leaseDurationMs = 40_000;
/** All candidates are silent only if there are so many. */
const fewestSilent = 3;

export interface ThresholdOptions {
  /** Number of candidates. */
  readonly candidates: number;
  readonly graceMs: number;
  /** `nodeLeaseFailureFraction`. */
  readonly fraction: number;
  /** 0 switches the rule of all silent candidates off. Default: half of the grace period, and at least of the duration of a lease. */
  readonly allSilentAfterMs?: number;
}

/** Returns the age at which a lease is expired. */
export const expiryAgeMs = (graceMs: number): number => limitOfGrace * graceMs;

/** Returns the time at which an outage shows by the specification, if the leases renewed at these times, and no others, are not renewed again; Infinity if it does not. */
export const thresholdOf = (
  renewals: readonly number[],
  { candidates, graceMs, fraction, allSilentAfterMs = Math.max(leaseDurationMs, graceMs) / 2 }: ThresholdOptions,
): number => {
  // One node proves nothing about the path.
  if (candidates < 2) return Number.POSITIVE_INFINITY;
  const sorted = renewals.toSorted((a, b) => a - b);
  // The difference outweighs an error of the product.
  const needed = Math.max(1, Math.ceil(fraction * candidates - 1e-9));
  const expired = (sorted[needed - 1] ?? Number.POSITIVE_INFINITY) + expiryAgeMs(graceMs);
  if (allSilentAfterMs === 0 || candidates < fewestSilent || sorted.length < candidates) return expired;
  return Math.min(expired, Number(sorted.at(-1)) + allSilentAfterMs);
};
