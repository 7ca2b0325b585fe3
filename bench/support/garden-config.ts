/** Of the kubelets' path: KCM's `--node-monitor-grace-period` as Gardener sets it. */
export const graceMs = 40_000;
/** Leases count as expired from here on, by the prober's measure. */
export const limitMs = 0.75 * graceMs;
export const nodeLeaseFailureFraction = 0.6;

/** The prober's configuration as gardenlet writes it for a seed, every time-out and interval at its default. */
export const gardenConfig = (kubeConfigSecretName: string): string => `kubeConfigSecretName: ${kubeConfigSecretName}
probeInterval: 10s
initialDelay: 30s
probeTimeout: 30s
backoffJitterFactor: 0.2
kcmNodeMonitorGraceDuration: ${String(graceMs / 1_000)}s
nodeLeaseFailureFraction: ${String(nodeLeaseFailureFraction)}
dependentResourceInfos:
- ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
  scaleUp: {level: 0}
  scaleDown: {level: 1}
- ref: {apiVersion: apps/v1, kind: Deployment, name: machine-controller-manager}
  scaleUp: {level: 1, initialDelay: 30s}
  scaleDown: {level: 0}
- ref: {apiVersion: apps/v1, kind: Deployment, name: cluster-autoscaler}
  optional: true
  scaleUp: {level: 2}
  scaleDown: {level: 0}
`;

/** When enough of the leases have expired, milliseconds since the epoch, from the last renewals of all of them. */
export const thresholdAt = (renewals: readonly number[]): number => {
  const needed = Math.ceil(nodeLeaseFailureFraction * renewals.length);
  return (renewals.toSorted((a, b) => a - b)[needed - 1] ?? Number.NaN) + limitMs;
};
