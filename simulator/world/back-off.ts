/** A kubelet's back-off for the restarts of a container. */
export interface BackOff {
  /** Delay of the next restart in milliseconds, counted from the end of the container. */
  readonly ms: number;
  /** Time of the last restart, milliseconds since the epoch. */
  readonly restartedAt: number;
}

export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** A container that ran longer than this many times the longest delay counts as stable (`hasExpired`). */
const stableAfter = 2;

const isForgotten = (backOff: BackOff, endedAt: number, { longestMs }: BackOffLimits): boolean =>
  endedAt - backOff.restartedAt > stableAfter * longestMs;

/**
 * Returns the delay in milliseconds between a container's end at `endedAt` and its restart: 0 the first time and after a stable run,
 * otherwise the delay in `backOff`. `IsInBackOffSince` in
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/client-go/util/flowcontrol/backoff.go
 */
export const restartDelay = (backOff: BackOff | undefined, endedAt: number, limits: BackOffLimits): number =>
  backOff === undefined || isForgotten(backOff, endedAt, limits) ? 0 : backOff.ms;

/** Returns the back-off after that restart: the delay doubles each time (`Next` in the same file, called by `doBackOff` in kuberuntime_manager.go). */
export const afterRestart = (
  backOff: BackOff | undefined,
  { endedAt, restartedAt }: { readonly endedAt: number; readonly restartedAt: number },
  limits: BackOffLimits,
): BackOff => {
  if (backOff === undefined || isForgotten(backOff, endedAt, limits)) return { ms: limits.firstMs, restartedAt };
  return { ms: Math.min(2 * backOff.ms, limits.longestMs), restartedAt };
};
