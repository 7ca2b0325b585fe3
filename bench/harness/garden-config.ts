/** KCM's `--node-monitor-grace-period` as Gardener sets it, and the prober's default. */
export const graceMs = 40_000;
/** Leases count as expired from this share of it on, by the prober's measure. */
const expiryShare = 0.75;
const nodeLeaseFailureFraction = 0.6;

/** gardenlet's `probeInterval`, three times the default. */
export const probeIntervalMs = 30_000;
/** gardenlet's flags for the prober; `--enable-leader-election` is left out, where one replica runs. */
export const limits = { qps: 20, burst: 100 };
export const proberFlags: readonly string[] = [
  `--kube-api-qps=${limits.qps.toFixed(1)}`,
  `--kube-api-burst=${String(limits.burst)}`,
  '--zap-log-level=INFO',
];

/** Default of `--leader-election-namespace`. */
export const electionNamespace = 'garden';

export interface GardenTimes {
  /** Of all times but the probe time-out: below 1 everything is faster. Default 1. */
  readonly scale?: number;
  /** Default gardenlet's, times `scale`. */
  readonly probeIntervalMs?: number;
  /** Before the first probe of a shoot. Default: not set, so 30 s. */
  readonly initialDelayMs?: number;
}

/**
 * The prober's configuration as gardenlet 1.150 writes it: `pkg/gardenlet/controller/seed/seed/components.go` and
 * `pkg/component/kubernetes/apiserver/dependency_watchdog.go`. What it leaves to the defaults is left to them here.
 */
export const gardenConfig = (kubeConfigSecretName: string, times: GardenTimes = {}): string => {
  const { scale = 1 } = times;
  const ms = (value: number): string => `${String(value * scale)}ms`;
  const initialDelayMs = times.initialDelayMs ?? (scale === 1 ? undefined : 30_000 * scale);
  const initialDelay = initialDelayMs === undefined ? '' : `initialDelay: ${String(initialDelayMs)}ms\n`;
  const grace = scale === 1 ? '' : `kcmNodeMonitorGraceDuration: ${ms(graceMs)}\n`;
  return `kubeConfigSecretName: ${kubeConfigSecretName}
probeInterval: ${String(times.probeIntervalMs ?? probeIntervalMs * scale)}ms
${initialDelay}${grace}dependentResourceInfos:
- ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
  scaleUp: {level: 0}
  scaleDown: {level: 1}
- ref: {apiVersion: apps/v1, kind: Deployment, name: machine-controller-manager}
  scaleUp: {level: 1, initialDelay: ${ms(30_000)}}
  scaleDown: {level: 0}
- ref: {apiVersion: apps/v1, kind: Deployment, name: cluster-autoscaler}
  optional: true
  scaleUp: {level: 2}
  scaleDown: {level: 0}
`;
};

/** When enough of the leases have expired, milliseconds since the epoch, from the last renewals of all of them. */
export const thresholdAt = (renewals: readonly number[], scale = 1): number => {
  const needed = Math.ceil(nodeLeaseFailureFraction * renewals.length);
  return (renewals.toSorted((a, b) => a - b)[needed - 1] ?? Number.NaN) + expiryShare * graceMs * scale;
};
