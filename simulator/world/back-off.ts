/** A kubelet's memory of how often it started a container anew. */
export interface BackOff {
  /** How long the next start has to wait, counted from the end of the container. */
  readonly ms: number;
  /** When the container was started anew, milliseconds since the epoch. */
  readonly restartedAt: number;
}

export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** A container that ran for so many of the longest waits is taken for stable (`hasExpired`). */
const stableAfter = 2;

const isForgotten = (backOff: BackOff, endedAt: number, { longestMs }: BackOffLimits): boolean =>
  endedAt - backOff.restartedAt > stableAfter * longestMs;

/**
 * How long after its end at `endedAt` a container is started anew, in milliseconds: at once the first time and after it was stable,
 * else as long as `backOff` says. `IsInBackOffSince` of
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/client-go/util/flowcontrol/backoff.go
 */
export const restartDelay = (backOff: BackOff | undefined, endedAt: number, limits: BackOffLimits): number =>
  backOff === undefined || isForgotten(backOff, endedAt, limits) ? 0 : backOff.ms;

/** The memory after that start (`Next` of the same file, as `doBackOff` in kuberuntime_manager.go calls it): twice as long each time. */
export const afterRestart = (
  backOff: BackOff | undefined,
  { endedAt, restartedAt }: { readonly endedAt: number; readonly restartedAt: number },
  limits: BackOffLimits,
): BackOff => {
  if (backOff === undefined || isForgotten(backOff, endedAt, limits)) return { ms: limits.firstMs, restartedAt };
  return { ms: Math.min(2 * backOff.ms, limits.longestMs), restartedAt };
};
