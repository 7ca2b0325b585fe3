/** Of the kubelets' path: KCM's `--node-monitor-grace-period` as Gardener sets it. */
export const graceMs = 40_000;
/** Leases count as expired from this share of it on, by the prober's measure. */
const expiryShare = 0.75;
export const nodeLeaseFailureFraction = 0.6;

export interface GardenTimes {
  /** Of all times but the probe time-out: below 1 everything is faster. Default 1. */
  readonly scale?: number;
  /** Default 10 s times `scale`. */
  readonly probeIntervalMs?: number;
  /** Before the first probe of a shoot. Default 30 s times `scale`. */
  readonly initialDelayMs?: number;
}

/** The prober's configuration as gardenlet writes it for a seed, every time-out and interval at its default. */
export const gardenConfig = (kubeConfigSecretName: string, times: GardenTimes = {}): string => {
  const { scale = 1, probeIntervalMs = 10_000 * scale, initialDelayMs = 30_000 * scale } = times;
  const ms = (value: number): string => `${String(value * scale)}ms`;
  return `kubeConfigSecretName: ${kubeConfigSecretName}
probeInterval: ${String(probeIntervalMs)}ms
initialDelay: ${String(initialDelayMs)}ms
probeTimeout: 30s
backoffJitterFactor: 0.2
kcmNodeMonitorGraceDuration: ${ms(graceMs)}
nodeLeaseFailureFraction: ${String(nodeLeaseFailureFraction)}
dependentResourceInfos:
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
