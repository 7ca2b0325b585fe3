import {
  type ShootInit,
  type WorldTiming,
  clusterAutoscaler,
  defaultTiming,
  kubeControllerManager,
  machineControllerManager,
  scaleTiming,
} from '../world/index.ts';
import type { Plan } from './prober/evidence.ts';
import type { CrashPlan } from './weeder/evidence.ts';

/** Deployments of a control plane that is simulated with its pods, besides those that the prober scales. */
export const kubeApiserver = 'kube-apiserver';
const kubeScheduler = 'kube-scheduler';
/** Those that the story and the screen tell of, in the order in which they need each other. */
export const toldDeployments: CrashPlan['chain'] = [
  kubeApiserver,
  kubeControllerManager,
  kubeScheduler,
  machineControllerManager,
  clusterAutoscaler,
];

/** Pods start, crash and wait so many times as fast as real ones. */
const podHaste = 20;
const podTiming = scaleTiming(defaultTiming, 1 / podHaste);

/**
 * Who only watches gets half the time of nodes. Who takes part gets three quarters of the grace: at half of it, the leases would expire while
 * kube-apiserver is away for less time than the prober takes for its absence.
 */
export type Pace = 'script' | 'live';

const graceMs: Readonly<Record<Pace, number>> = { script: 20_000, live: 30_000 };

/** Times of the demo, shorter than real ones: who watches has less patience than a controller. */
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

export const demoProbeIntervalMs = 2_000;
export const demoFraction = 0.6;

/** Of the shoot that nobody protects. */
export const twinName = 'twin';
/** The first is cut off, the second loses etcd, as its twin does, and the third is there to stay as it is. */
export const demoShoots: readonly ShootInit[] = ['alpha', 'bravo', 'charlie', twinName].map((name) => ({
  name,
  nodes: 5,
  replicas: { [kubeControllerManager]: 2 },
  controlPlanePods: true,
  careObjects: true,
}));

/** Spreads the renewals of the first shoot's kubelets evenly, so that its leases expire one after the other. */
export const demoWorldSeed = 1183;

/** What is to be seen of the prober. Deployments in the order in which they are scaled down. */
export const demoPlan = (withProber: boolean): Plan => ({
  withProber,
  victim: 'alpha',
  others: ['charlie'],
  order: [machineControllerManager, clusterAutoscaler, kubeControllerManager],
  fraction: demoFraction,
  limitMs: leaseLimitMs('script'),
  graceMs: graceMs.script,
  monitorPeriodMs: demoTiming('script').monitorPeriodMs,
});

/** What is to be seen of the weeder. */
export const demoCrashPlan = (withWeeder: boolean): CrashPlan => ({
  withWeeder,
  victim: 'bravo',
  twin: twinName,
  etcd: 'etcd-main',
  chain: toldDeployments,
  longestBackOffMs: podTiming.longestCrashBackOffMs,
  haste: podHaste,
});
