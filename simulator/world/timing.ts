/** Timing of the actors in a simulated seed, with the values of the real programs. Milliseconds. */
export const defaultTiming = {
  /** The kubelet's `--node-lease-duration-seconds` times 0.25. */
  leaseRenewMs: 10_000,
  /** How long a kubelet waits for the response to a heartbeat (`heartbeatClientConfig.Timeout`). */
  heartbeatTimeoutMs: 10_000,
  /** How often a kubelet reports an unchanged node status. */
  statusReportMs: 300_000,
  /** KCM's `--node-monitor-grace-period`, for shoots that do not configure their own. */
  graceMs: 40_000,
  /** KCM's `--node-monitor-period`. */
  monitorPeriodMs: 5_000,
  /** A controller manager that cannot renew its leader lease for this long exits and restarts. */
  leaderRenewDeadlineMs: 10_000,
  /** MCM's `--machine-health-timeout`. */
  machineHealthTimeoutMs: 600_000,
  /** From the creation of a machine until its node joins. */
  machineJoinMs: 120_000,
  /** How often MCM checks its machines. */
  machineCheckMs: 5_000,
  /** From a changed Deployment to its `observedGeneration`. */
  observeMs: 200,
  /** From `observedGeneration` until pods that are no longer wanted have left the counts. */
  podStopMs: 500,
  /** From `observedGeneration` until new pods count as ready; for simulated pods, from their creation to their start. */
  podStartMs: 8_000,
  /** From the deletion of a pod to its end, unless its grace period is shorter. */
  podEndMs: 2_000,
  /** From the start of a container to its first readiness probe. */
  readinessDelayMs: 10_000,
  /** From a failed readiness probe to the next. */
  probePeriodMs: 10_000,
  /** How long a program keeps running without its dependency, like KCM with `--leader-elect-renew-deadline`. */
  dependencyTimeoutMs: 10_000,
  /** The kubelet's first back-off, before the second restart of a container (`initialCrashLoopBackOff`); it doubles each time. */
  crashBackOffMs: 10_000,
  /** The kubelet's longest back-off (`MaxContainerBackOff`). */
  longestCrashBackOffMs: 300_000,
};

export type WorldTiming = Readonly<typeof defaultTiming>;

/** Multiplies all times by `factor`: below 1 the world is faster. */
export const scaleTiming = (timing: WorldTiming, factor: number): WorldTiming =>
  Object.fromEntries(Object.entries(timing).map(([name, ms]) => [name, ms * factor])) as unknown as WorldTiming;
