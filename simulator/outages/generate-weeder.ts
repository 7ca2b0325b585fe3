import { clusterAutoscaler, kubeControllerManager, machineControllerManager } from '../world/index.ts';
import { type Draw, type Story, apiFault, clipped, lasting, pick } from './draw.ts';
import type { Fault, Plan, PlannedFault, PlannedShoot } from './plan.ts';
import { otherWeederSettings, weededServices } from './world-settings.ts';

const kubeApiserver = 'kube-apiserver';
const dependants = [
  kubeApiserver,
  kubeControllerManager,
  'kube-scheduler',
  machineControllerManager,
  clusterAutoscaler,
] as const;

const shootOrAll = (draw: Draw): string | undefined => (draw.chance(0.6) ? draw.shoot() : undefined);

const faults: Parameters<typeof pick<Fault>>[1] = [
  [6, (draw) => ({ kind: 'etcd', shoot: shootOrAll(draw) })],
  [2, (draw) => ({ kind: 'etcd', shoot: draw.shoot(), everyMs: draw.of([4_000, 15_000, 40_000]) })],
  [5, (draw) => ({ kind: 'crash', shoot: draw.shoot(), component: draw.of(dependants) })],
  [
    4,
    (draw) => ({
      kind: 'second-slice',
      shoot: draw.shoot(),
      service: draw.of(weededServices),
      everyMs: draw.of([700, 6_000, 25_000]),
      otherwise: draw.of(['unready', 'terminating', 'silent about readiness', 'empty']),
    }),
  ],
  [1, (draw) => ({ kind: 'no-slices', shoot: draw.shoot(), service: draw.of(weededServices) })],
  [
    4,
    (draw) => ({ kind: 'stray-pod', shoot: draw.shoot(), what: draw.of(['unowned', 'stranger', 'init', 'sidecar']) }),
  ],
  [5, (draw) => ({ kind: 'api-server', server: 'seed', trouble: apiFault(draw) })],
  [2, (draw) => ({ kind: 'partition', replica: draw.replica(), server: 'seed' })],
  [1, (draw) => ({ kind: 'dns', replica: draw.replica(), server: 'seed' })],
  [3, (draw) => ({ kind: 'lost-answers', how: draw.of(['reset', 'drop']), part: draw.of([0.3, 1]) })],
  [2, () => ({ kind: 'compaction' })],
  [
    1,
    (draw) => ({
      kind: 'watchdog-clock',
      replica: draw.replica(),
      ms: draw.of([-1, 1]) * draw.of([25_000, 3_600_000]),
    }),
  ],
  [3, (draw) => ({ kind: 'kill', replica: draw.replica() })],
  [1, (draw) => ({ kind: 'stop', replica: draw.replica() })],
  [3, (draw) => ({ kind: 'pause', replica: draw.replica() })],
  [1, (draw) => ({ kind: 'reload', settings: draw.random.integer(otherWeederSettings.length) })],
];

const anyFault = (draw: Draw): Fault => pick(draw, faults);

const plannedShoot = (draw: Draw, name: string): PlannedShoot => ({
  name,
  nodes: 0,
  replicas: Object.fromEntries(dependants.map((dependant) => [dependant, draw.of([1, 1, 2, 3])])),
});

interface WeederStory extends Omit<Story, 'quietMs'> {
  readonly quickPods?: true;
}

const chaos = (draw: Draw): WeederStory => {
  const all = Array.from({ length: draw.between(1, 7) }, (): PlannedFault => {
    return { at: draw.between(0, 145_000), forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { faultsMs: 150_000, faults: all };
};

/** etcd of one shoot or of all is down for so long that everything crash-loops. */
const recovery = (draw: Draw): PlannedFault => {
  const forMs = draw.between(25_000, 110_000);
  return { at: draw.between(5_000, 30_000), forMs, fault: { kind: 'etcd', shoot: shootOrAll(draw) } };
};

const plainRecovery = (draw: Draw): WeederStory => {
  const lost = recovery(draw);
  const stray: PlannedFault = {
    at: draw.between(0, lost.at + lost.forMs),
    forMs: 120_000,
    fault: { kind: 'stray-pod', shoot: draw.shoot(), what: draw.of(['unowned', 'stranger', 'init', 'sidecar']) },
  };
  const all = draw.chance(0.5) ? [lost, stray] : [lost];
  return { faultsMs: lost.at + lost.forMs + 60_000, faults: all };
};

/** More faults when etcd recovers, or when the weeded pods start. */
const troubledRecovery = (draw: Draw): WeederStory => {
  const lost = recovery(draw);
  const back = lost.at + lost.forMs;
  const others = Array.from({ length: draw.between(1, 3) }, (): PlannedFault => {
    return { at: draw.between(back - 10_000, back + 50_000), forMs: lasting(draw), fault: anyFault(draw) };
  });
  return { faultsMs: back + 100_000, faults: [lost, ...others] };
};

/** Weeded pods crash-loop again, and services become unready and ready again. */
const stubborn = (draw: Draw): WeederStory => {
  const [shoot, component] = [draw.shoot(), draw.of(dependants)];
  const service = component === kubeApiserver ? weededServices[0] : weededServices[1];
  const flap: PlannedFault = {
    at: draw.between(5_000, 60_000),
    forMs: draw.between(500, 40_000),
    fault: draw.chance(0.5) ? { kind: 'etcd', shoot } : { kind: 'no-slices', shoot, service },
  };
  const crash: PlannedFault = {
    at: draw.between(0, 20_000),
    forMs: draw.between(90_000, 240_000),
    fault: { kind: 'crash', shoot, component },
  };
  const other: PlannedFault = { at: draw.between(0, 100_000), forMs: lasting(draw), fault: anyFault(draw) };
  return { faultsMs: 270_000, faults: [crash, flap, ...(draw.chance(0.5) ? [other] : [])] };
};

/** Pods crash before the responses to deletes arrive. */
const slowAnswers = (draw: Draw): WeederStory => {
  const at = draw.between(1_000, 60_000);
  const forMs = draw.between(10_000, 60_000);
  const slow: Fault = draw.chance(0.5)
    ? { kind: 'lost-answers', how: 'drop', part: 1 }
    : { kind: 'api-server', server: 'seed', trouble: { how: 'slow', delayMs: draw.between(1_500, 4_500) } };
  const crash: PlannedFault = {
    at: draw.between(at, at + forMs),
    forMs: draw.between(20_000, 90_000),
    fault: { kind: 'crash', shoot: draw.shoot(), component: draw.of(dependants) },
  };
  return { faultsMs: at + forMs + 120_000, faults: [{ at, forMs, fault: slow }, crash], quickPods: true };
};

/** The leader ends, is suspended or loses its connection to the seed while etcd recovers. */
const handover = (draw: Draw): WeederStory => {
  const lost = recovery(draw);
  const back = lost.at + lost.forMs;
  const replica = draw.replica();
  const others = Array.from({ length: draw.between(1, 2) }, (): PlannedFault => {
    const kind = draw.of(['pause', 'pause', 'pause', 'kill', 'stop', 'partition']);
    const fault: Fault = kind === 'partition' ? { kind, replica, server: 'seed' } : { kind, replica };
    return { at: draw.between(back - 15_000, back + 40_000), forMs: draw.between(4_000, 40_000), fault };
  });
  const all = [lost, ...others];
  return { faultsMs: back + 90_000, faults: all, elected: true, latencyMs: draw.of([20, 300, 1_000]) };
};

/** Time after the last fault, in addition to the duration of a weeding, until no weeding is left. */
const afterMs = 70_000;

/** Draws the rest of a weeder's plan. */
export const weederPlan = (draw: Draw, names: readonly string[]): Omit<Plan, 'seed' | 'replicas'> => {
  const writeScript = draw.of([
    chaos,
    plainRecovery,
    troubledRecovery,
    troubledRecovery,
    stubborn,
    stubborn,
    slowAnswers,
    handover,
  ]);
  const { elected, ...story } = clipped<WeederStory & Story>({ ...writeScript(draw), quietMs: 0 });
  const watchDurationMs = draw.of([20_000, 60_000, 300_000]);
  return {
    component: 'weeder',
    watchDurationMs,
    quickPods: draw.chance(0.3),
    shoots: names.map((name) => plannedShoot(draw, name)),
    elected: draw.replicas > 1 || elected === true || draw.chance(0.2),
    dryRun: draw.chance(0.03),
    latencyMs: draw.of([0, 20, 300]),
    ...story,
    quietMs: watchDurationMs + afterMs,
  };
};
