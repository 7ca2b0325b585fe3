import {
  type ShootInit,
  type WorldTiming,
  clusterAutoscaler,
  defaultTiming,
  kubeControllerManager,
  machineControllerManager,
  scaleTiming,
} from '../world/index.ts';

export const etcdMain = 'etcd-main';
export const kubeApiserver = 'kube-apiserver';
/** Deployments of a control plane in the order in which they need each other; without etcd they crash-loop. */
export const etcdDependents: readonly string[] = [
  kubeApiserver,
  kubeControllerManager,
  'kube-scheduler',
  machineControllerManager,
  clusterAutoscaler,
];
/** What the demo shows of a control plane, in this order. */
export const shownComponents: readonly string[] = [etcdMain, ...etcdDependents];
/** What the prober scales down, in this order. */
export const scaledDown: readonly string[] = [machineControllerManager, clusterAutoscaler, kubeControllerManager];

/** Factor by which pods start, crash and wait faster than real ones. */
export const podHaste = 20;
const podTiming = scaleTiming(defaultTiming, 1 / podHaste);

/**
 * The script halves the times of nodes. A user in a terminal gets three quarters of the grace period: at half of it, the leases would expire
 * while kube-apiserver is away for less time than the prober takes for a downtime.
 */
export type Pace = 'script' | 'live';

const graceMs: Readonly<Record<Pace, number>> = { script: 20_000, live: 30_000 };

/** Times of the demo: shorter than real ones, so that an outage lasts less than a minute. */
export const demoTiming = (pace: Pace): WorldTiming => ({
  ...scaleTiming(defaultTiming, 0.5),
  graceMs: graceMs[pace],
  podStartMs: podTiming.podStartMs,
  podEndMs: podTiming.podEndMs,
  readinessDelayMs: podTiming.readinessDelayMs,
  probePeriodMs: podTiming.probePeriodMs,
  dependencyTimeoutMs: podTiming.dependencyTimeoutMs,
  crashBackOffMs: podTiming.crashBackOffMs,
  longestCrashBackOffMs: podTiming.longestCrashBackOffMs,
  machineHealthTimeoutMs: 8_000,
  machineJoinMs: 8_000,
});

/** Age from which the prober takes a lease for expired. */
export const leaseLimitMs = (pace: Pace): number => 0.75 * graceMs[pace];

/** The network fails it, and it is protected. */
export const cutShoot = 'alpha';
/** It loses etcd, and is weeded. */
export const weededShoot = 'bravo';
/** Nothing happens to it. */
export const quietShoot = 'charlie';
/** Nobody protects it. */
export const twinName = 'twin';
export const demoShoots: readonly ShootInit[] = [cutShoot, weededShoot, quietShoot, twinName].map((name) => ({
  name,
  nodes: 5,
  replicas: { [kubeControllerManager]: 2 },
  controlPlanePods: true,
  careObjects: true,
}));

/** Spreads the renewals of the first shoot's kubelets evenly, so that its leases expire one after the other. */
export const demoWorldSeed = 1183;
