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
/** Deployments of a control plane, each after those on which it depends. Without etcd all of them crash-loop. */
export const etcdDependents: readonly string[] = [
  kubeApiserver,
  kubeControllerManager,
  'kube-scheduler',
  machineControllerManager,
  clusterAutoscaler,
];
/** Components of a control plane that the demo shows, in this order. */
export const shownComponents: readonly string[] = [etcdMain, ...etcdDependents];
/** Deployments that the prober scales down, in this order. */
export const scaledDown: readonly string[] = [machineControllerManager, clusterAutoscaler, kubeControllerManager];

/** Factor by which pods start, crash and wait faster than real ones. */
export const podHaste = 20;
const podTiming = scaleTiming(defaultTiming, 1 / podHaste);

/**
 * How much the demo shortens times. `script` halves the times of nodes. `live`, for a user in a terminal, keeps three quarters of the grace
 * period: with half of it, leases would expire during an absence of kube-apiserver that is too short for the prober to regard as a downtime.
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

/** Returns the age at which the prober regards a lease as expired, in milliseconds. */
export const leaseLimitMs = (pace: Pace): number => 0.75 * graceMs[pace];

/** Name of the shoot that loses its network, and is protected. */
export const cutShoot = 'alpha';
/** Name of the shoot that loses etcd, and is weeded. */
export const weededShoot = 'bravo';
/** Name of the shoot that has no faults. */
export const quietShoot = 'charlie';
/** Name of the shoot that no watchdog protects. */
export const twinName = 'twin';
export const demoShoots: readonly ShootInit[] = [cutShoot, weededShoot, quietShoot, twinName].map((name) => ({
  name,
  nodes: 5,
  replicas: { [kubeControllerManager]: 2 },
  controlPlanePods: true,
  careObjects: true,
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
