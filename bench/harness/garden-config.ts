import { thresholdOf } from '../../simulator/outages/threshold.ts';

/** KCM's `--node-monitor-grace-period` as Gardener sets it, and the prober's default. */
export const graceMs = 40_000;
const nodeLeaseFailureFraction = 0.6;

/** gardenlet's `probeInterval`, three times the default. */
export const probeIntervalMs = 30_000;
/** gardenlet's flags for the prober, without `--enable-leader-election`, because one replica runs. */
export const limits = { qps: 20, burst: 100 };
export const proberFlags: readonly string[] = [
  `--kube-api-qps=${limits.qps.toFixed(1)}`,
  `--kube-api-burst=${String(limits.burst)}`,
  '--zap-log-level=INFO',
];

export interface GardenOptions {
  /** Factor of all times except the probe timeout; below 1, everything is faster. Default 1. */
  readonly scale?: number;
  /** Default: gardenlet's interval, times `scale`. */
  readonly probeIntervalMs?: number;
  /** Delay before the first probe of a shoot. Default: not set at `scale` 1, so the prober's 30 s; otherwise 30 s times `scale`. */
  readonly initialDelayMs?: number;
  /** Name of the Secret with the public address of a shoot's API server. Default: no external probe. */
  readonly externalSecretName?: string;
}

/**
 * The prober's configuration as gardenlet 1.150 writes it: `pkg/gardenlet/controller/seed/seed/components.go` and
 * `pkg/component/kubernetes/apiserver/dependency_watchdog.go`. Fields that gardenlet does not set are not set here either.
 */
export const gardenConfig = (kubeConfigSecretName: string, options: GardenOptions = {}): string => {
  const { scale = 1 } = options;
  const ms = (value: number): string => `${String(value * scale)}ms`;
  const initialDelayMs = options.initialDelayMs ?? (scale === 1 ? undefined : 30_000 * scale);
  const initialDelay = initialDelayMs === undefined ? '' : `initialDelay: ${String(initialDelayMs)}ms\n`;
  const external = options.externalSecretName;
  const externalProbe =
    external === undefined ? '' : `externalProbe: {kubeConfigSecretName: ${external}, mode: trigger}\n`;
  const grace = scale === 1 ? '' : `kcmNodeMonitorGraceDuration: ${ms(graceMs)}\n`;
  return `kubeConfigSecretName: ${kubeConfigSecretName}
probeInterval: ${String(options.probeIntervalMs ?? probeIntervalMs * scale)}ms
${initialDelay}${grace}${externalProbe}dependentResourceInfos:
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
export const thresholdAt = (renewals: readonly number[], scale = 1): number =>
  thresholdOf(renewals, {
    ...{ candidates: renewals.length, graceMs: graceMs * scale, fraction: nodeLeaseFailureFraction },
    allSilentAfterMs: 0,
  });
