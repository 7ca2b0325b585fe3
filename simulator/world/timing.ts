/** How fast the actors of a simulated seed are, as the real programs are. Milliseconds. */
export const defaultTiming = {
  /** The kubelet's `--node-lease-duration-seconds` times 0.25. */
  leaseRenewMs: 10_000,
  /** How long a kubelet waits for an answer to a heartbeat (`heartbeatClientConfig.Timeout`). */
  heartbeatTimeoutMs: 10_000,
  /** How often a kubelet posts a node status in which nothing changed. */
  statusReportMs: 300_000,
  /** KCM's `--node-monitor-grace-period`, for shoots that set none of their own. */
  graceMs: 40_000,
  /** KCM's `--node-monitor-period`. */
  monitorPeriodMs: 5_000,
  /** One by KCM's `--node-eviction-rate`: the time between two nodes whose pods it gives up. */
  nodeEvictionMs: 10_000,
  /** How long a pod stays on an unreachable node that asks for nothing else (`--default-unreachable-toleration-seconds`). */
  podTolerationMs: 300_000,
  /** A controller manager that cannot renew its leader lease for so long exits and starts anew. */
  leaderRenewDeadlineMs: 10_000,
  /** MCM's `--machine-health-timeout`. */
  machineHealthTimeoutMs: 600_000,
  /** From the order for a machine to its node joining. */
  machineJoinMs: 120_000,
  /** How often MCM looks at its machines. */
  machineCheckMs: 5_000,
  /** The cluster-autoscaler's `--scan-interval`. */
  autoscalerScanMs: 10_000,
  /** The cluster-autoscaler's `--scale-down-unready-time`. */
  unreadyNodeMs: 1_200_000,
  /** From a changed Deployment to its `observedGeneration`. */
  observeMs: 200,
  /** From there until pods that are no longer wanted have left the counts. */
  podStopMs: 500,
  /** From there until pods that are wanted are ready. */
  podStartMs: 8_000,
  /** From the end of a kube-apiserver's program until its Deployment shows that it is not available. */
  apiServerGoneMs: 1_000,
  /** The same where the program hangs: three readiness probes in a row (gardener pkg/component/kubernetes/apiserver/deployment.go). */
  apiServerHungMs: 30_000,
  /** From its first answer until its Deployment shows that it is available. */
  apiServerBackMs: 500,
  /** From the deletion of a pod to its end, if its grace period allows. */
  podEndMs: 2_000,
  /** From the start of a container to its first readiness probe. */
  readinessDelayMs: 10_000,
  /** From a readiness probe that failed to the next. */
  probePeriodMs: 10_000,
  /** How long a program lasts without what it depends on, as KCM's `--leader-elect-renew-deadline`. */
  dependencyTimeoutMs: 10_000,
  /** The kubelet's wait before it starts a container for the second time (`initialCrashLoopBackOff`); it doubles each time. */
  crashBackOffMs: 10_000,
  /** `MaxContainerBackOff` of the kubelet. */
  longestCrashBackOffMs: 300_000,
};

export type WorldTiming = Readonly<typeof defaultTiming>;

/** The same world, `factor` times as slow: below 1 it is faster. */
export const scaleTiming = (timing: WorldTiming, factor: number): WorldTiming =>
  Object.fromEntries(Object.entries(timing).map(([name, ms]) => [name, ms * factor])) as unknown as WorldTiming;
