import { formatGoDuration } from '../../domain/index.ts';
import {
  clusterAutoscaler,
  defaultTiming,
  kubeconfigSecretName,
  kubeControllerManager,
  machineControllerManager,
  scaleTiming,
  type ShootInit,
  type WorldTiming,
} from '../../sim/index.ts';
import type { Plan } from './evidence.ts';

/** Times of the demo, shorter than real ones: who watches has less patience than a controller. */
export const demoTiming: WorldTiming = {
  ...scaleTiming(defaultTiming, 0.5),
  podStartMs: 2_000,
  machineHealthTimeoutMs: 8_000,
  machineJoinMs: 8_000,
};

const demoProbeIntervalMs = 2_000;
const demoFraction = 0.6;
/** The first is cut off, the others are there to stay as they are. */
export const demoShoots: readonly ShootInit[] = ['alpha', 'bravo', 'charlie'].map((name) => ({
  name,
  nodes: 5,
  replicas: { [kubeControllerManager]: 2 },
}));

/** Spreads the renewals of the first shoot's kubelets evenly, so that its leases expire one after the other. */
export const demoWorldSeed = 1183;

/** What is to be seen. Deployments in the order in which they are scaled down. */
export const demoPlan = (withProber: boolean): Plan => ({
  withProber,
  victim: demoShoots[0]?.name ?? '',
  order: [machineControllerManager, clusterAutoscaler, kubeControllerManager],
  fraction: demoFraction,
  limitMs: 0.75 * demoTiming.graceMs,
  graceMs: demoTiming.graceMs,
  monitorPeriodMs: demoTiming.monitorPeriodMs,
});

/** Configuration of the prober: levels as gardenlet sets them, times to suit the world. */
export const demoProberConfig = `kubeConfigSecretName: ${kubeconfigSecretName}
probeInterval: ${formatGoDuration(demoProbeIntervalMs)}
initialDelay: 1s
probeTimeout: 5s
backoffJitterFactor: 0.2
kcmNodeMonitorGraceDuration: ${formatGoDuration(demoTiming.graceMs)}
nodeLeaseFailureFraction: ${String(demoFraction)}
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
