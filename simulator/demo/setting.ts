import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { weederConfig } from '../../src/weeder/index.ts';
import {
  type ShootInit,
  type WorldSource,
  type WorldTiming,
  clusterAutoscaler,
  defaultTiming,
  kubeControllerManager,
  kubeconfigSecretName,
  machineControllerManager,
  scaleTiming,
} from '../world/index.ts';

/** Factor by which pods start, crash and wait faster than real ones. */
export const podHaste = 20;
const podTiming = scaleTiming(defaultTiming, 1 / podHaste);

/**
 * Times of the demo: half of the real ones, so that an outage lasts less than a minute, but three quarters of the grace period. With half of
 * it, leases would expire during an absence of kube-apiserver that is too short for the prober to regard as a downtime.
 */
export const demoTiming: WorldTiming = {
  ...scaleTiming(defaultTiming, 0.5),
  graceMs: 30_000,
  podStartMs: podTiming.podStartMs,
  podEndMs: podTiming.podEndMs,
  readinessDelayMs: podTiming.readinessDelayMs,
  probePeriodMs: podTiming.probePeriodMs,
  dependencyTimeoutMs: podTiming.dependencyTimeoutMs,
  crashBackOffMs: podTiming.crashBackOffMs,
  longestCrashBackOffMs: podTiming.longestCrashBackOffMs,
  machineHealthTimeoutMs: 8_000,
  machineJoinMs: 8_000,
};

/** Age at which the prober regards a lease as expired, in milliseconds. */
export const leaseLimitMs = 0.75 * demoTiming.graceMs;

/** Name of the shoot that no watchdog protects. */
export const twinName = 'twin';
export const demoShoots: readonly ShootInit[] = ['alpha', 'bravo', 'charlie', twinName].map((name) => ({
  name,
  nodes: 5,
  replicas: { [kubeControllerManager]: 2 },
  controlPlanePods: true,
}));

/** Returns the shoots of the demo and as many others as make `count`. These have no pods, and only the prober looks at them. */
export const shootsOfSeed = (count: number): readonly ShootInit[] => {
  const others = Array.from({ length: Math.max(0, count - demoShoots.length) }, (_, index) => ({
    name: `other-${String(index + 1).padStart(3, '0')}`,
    nodes: 3,
  }));
  return [...demoShoots, ...others];
};

/** Random seed that spreads the renewals of the first shoot's kubelets evenly, so that its leases expire one after the other. */
export const demoWorldSeed = 1183;

/** Returns the prober's configuration: levels as gardenlet sets them, times that fit the demo's shortened times. */
export const demoProberConfig = (source: WorldSource = 'gardener'): string => `clusterSource: {kind: ${source}}
kubeConfigSecretName: ${kubeconfigSecretName}
probeInterval: 2s
initialDelay: 1s
probeTimeout: 5s
backoffJitterFactor: 0.2
kcmNodeMonitorGraceDuration: ${formatGoDuration(demoTiming.graceMs)}
nodeLeaseFailureFraction: 0.6
dependentResourceInfos:
- ref:
    {apiVersion: apps/v1, kind: Deployment, name: ${kubeControllerManager}}
  scaleUp: {level: 0}
  scaleDown: {level: 1}
- ref:
    {apiVersion: apps/v1, kind: Deployment, name: ${machineControllerManager}}
  scaleUp: {level: 1, initialDelay: 2s}
  scaleDown: {level: 0}
- ref:
    {apiVersion: apps/v1, kind: Deployment, name: ${clusterAutoscaler}}
  optional: true
  scaleUp: {level: 2}
  scaleDown: {level: 0}
`;

/** The weeder's configuration, as Gardener deploys it. */
export const demoWeederConfig: string = weederConfig.defaultText;
