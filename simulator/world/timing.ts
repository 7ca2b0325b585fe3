/** How fast the actors of a simulated seed are. Milliseconds; the defaults are those of the real programs. */
export interface WorldTiming {
  /** The kubelet's `--node-lease-duration-seconds` times 0.25. */
  readonly leaseRenewMs: number;
  /** How long a kubelet waits for an answer to a heartbeat (`heartbeatClientConfig.Timeout`). */
  readonly heartbeatTimeoutMs: number;
  /** How often a kubelet posts a node status in which nothing changed. */
  readonly statusReportMs: number;
  /** KCM's `--node-monitor-grace-period`, for shoots that set none of their own. */
  readonly graceMs: number;
  /** KCM's `--node-monitor-period`. */
  readonly monitorPeriodMs: number;
  /** One by KCM's `--node-eviction-rate`: the time between two nodes whose pods it gives up. */
  readonly nodeEvictionMs: number;
  /** How long a pod stays on an unreachable node that asks for nothing else (`--default-unreachable-toleration-seconds`). */
  readonly podTolerationMs: number;
  /** A controller manager that cannot renew its leader lease for so long exits and starts anew. */
  readonly leaderRenewDeadlineMs: number;
  /** MCM's `--machine-health-timeout`. */
  readonly machineHealthTimeoutMs: number;
  /** From the order for a machine to its node joining. */
  readonly machineJoinMs: number;
  /** How often MCM looks at its machines. */
  readonly machineCheckMs: number;
  /** The cluster-autoscaler's `--scan-interval`. */
  readonly autoscalerScanMs: number;
  /** The cluster-autoscaler's `--scale-down-unready-time`. */
  readonly unreadyNodeMs: number;
  /** From a changed Deployment to its `observedGeneration`. */
  readonly observeMs: number;
  /** From there until pods that are no longer wanted have left the counts. */
  readonly podStopMs: number;
  /** From there until pods that are wanted are ready. */
  readonly podStartMs: number;
  /** From the end of a kube-apiserver's program until its Deployment shows that it is not available. */
  readonly apiServerGoneMs: number;
  /** The same where the program hangs: three readiness probes in a row (gardener pkg/component/kubernetes/apiserver/deployment.go). */
  readonly apiServerHungMs: number;
  /** From its first answer until its Deployment shows that it is available. */
  readonly apiServerBackMs: number;
  /** From the deletion of a pod to its end, if its grace period allows. */
  readonly podEndMs: number;
  /** From the start of a container to its first readiness probe. */
  readonly readinessDelayMs: number;
  /** From a readiness probe that failed to the next. */
  readonly probePeriodMs: number;
  /** How long a program lasts without what it depends on, as KCM's `--leader-elect-renew-deadline`. */
  readonly dependencyTimeoutMs: number;
  /** The kubelet's wait before it starts a container for the second time (`initialCrashLoopBackOff`); it doubles each time. */
  readonly crashBackOffMs: number;
  /** `MaxContainerBackOff` of the kubelet. */
  readonly longestCrashBackOffMs: number;
}

export const defaultTiming: WorldTiming = {
  leaseRenewMs: 10_000,
  heartbeatTimeoutMs: 10_000,
  statusReportMs: 300_000,
  graceMs: 40_000,
  monitorPeriodMs: 5_000,
  nodeEvictionMs: 10_000,
  podTolerationMs: 300_000,
  leaderRenewDeadlineMs: 10_000,
  machineHealthTimeoutMs: 600_000,
  machineJoinMs: 120_000,
  machineCheckMs: 5_000,
  autoscalerScanMs: 10_000,
  unreadyNodeMs: 1_200_000,
  observeMs: 200,
  podStopMs: 500,
  podStartMs: 8_000,
  apiServerGoneMs: 1_000,
  apiServerHungMs: 30_000,
  apiServerBackMs: 500,
  podEndMs: 2_000,
  readinessDelayMs: 10_000,
  probePeriodMs: 10_000,
  dependencyTimeoutMs: 10_000,
  crashBackOffMs: 10_000,
  longestCrashBackOffMs: 300_000,
};

/** The same world, `factor` times as slow: below 1 it is faster. */
export const scaleTiming = (timing: WorldTiming, factor: number): WorldTiming => ({
  leaseRenewMs: timing.leaseRenewMs * factor,
  heartbeatTimeoutMs: timing.heartbeatTimeoutMs * factor,
  statusReportMs: timing.statusReportMs * factor,
  graceMs: timing.graceMs * factor,
  monitorPeriodMs: timing.monitorPeriodMs * factor,
  nodeEvictionMs: timing.nodeEvictionMs * factor,
  podTolerationMs: timing.podTolerationMs * factor,
  leaderRenewDeadlineMs: timing.leaderRenewDeadlineMs * factor,
  machineHealthTimeoutMs: timing.machineHealthTimeoutMs * factor,
  machineJoinMs: timing.machineJoinMs * factor,
  machineCheckMs: timing.machineCheckMs * factor,
  autoscalerScanMs: timing.autoscalerScanMs * factor,
  unreadyNodeMs: timing.unreadyNodeMs * factor,
  observeMs: timing.observeMs * factor,
  podStopMs: timing.podStopMs * factor,
  podStartMs: timing.podStartMs * factor,
  apiServerGoneMs: timing.apiServerGoneMs * factor,
  apiServerHungMs: timing.apiServerHungMs * factor,
  apiServerBackMs: timing.apiServerBackMs * factor,
  podEndMs: timing.podEndMs * factor,
  readinessDelayMs: timing.readinessDelayMs * factor,
  probePeriodMs: timing.probePeriodMs * factor,
  dependencyTimeoutMs: timing.dependencyTimeoutMs * factor,
  crashBackOffMs: timing.crashBackOffMs * factor,
  longestCrashBackOffMs: timing.longestCrashBackOffMs * factor,
});
