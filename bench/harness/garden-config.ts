import { thresholdOf } from '../../simulator/outages/threshold.ts';

/** KCM's `--node-monitor-grace-period` as Gardener sets it, and the prober's default. */
export const graceMs = 40_000;
const nodeLeaseFailureFraction = 0.6;

/** gardenlet's `probeInterval`, three times the default. */
export const probeIntervalMs = 30_000;
/** Longest time between two probes of a shoot, with the default `backoffJitterFactor`. */
export const longestIntervalMs = 1.2 * probeIntervalMs;
/** gardenlet's flags for the prober, without `--enable-leader-election`, because one replica runs. */
export const proberFlags: readonly string[] = ['--kube-api-qps=20.0', '--kube-api-burst=100', '--zap-log-level=INFO'];

export interface GardenOptions {
  /** Factor of all times except the probe timeout; below 1, everything is faster. */
  readonly scale: number;
  /** Default: gardenlet's interval. */
  readonly intervalMs?: number;
  /** Name of the Secret with the public address of a shoot's API server. Default: no external probe. */
  readonly externalSecretName?: string;
}

/**
 * The prober's configuration as gardenlet 1.150 writes it: `pkg/gardenlet/controller/seed/seed/components.go` and
 * `pkg/component/kubernetes/apiserver/dependency_watchdog.go`. Only the initial delay is shorter, because nothing measures it.
 */
export const gardenConfig = (kubeConfigSecretName: string, options: GardenOptions): string => {
  const { scale, intervalMs = probeIntervalMs, externalSecretName: external } = options;
  const ms = (value: number): string => `${String(value * scale)}ms`;
  return `kubeConfigSecretName: ${kubeConfigSecretName}
probeInterval: ${ms(intervalMs)}
initialDelay: ${ms(1_000)}
kcmNodeMonitorGraceDuration: ${ms(graceMs)}
${external === undefined ? '' : `externalProbe: {kubeConfigSecretName: ${external}, mode: trigger}`}
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

/** Time at which enough leases have expired, computed from the last renewals of all leases. In milliseconds since the epoch. */
export const thresholdAt = (renewals: readonly number[], scale: number): number =>
  thresholdOf(renewals, {
    ...{ candidates: renewals.length, graceMs: graceMs * scale, fraction: nodeLeaseFailureFraction },
    allSilentAfterMs: 0,
  });
