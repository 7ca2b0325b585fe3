import { generatePlan } from '../../simulator/outages/generate.ts';
import type { Fault, Plan, PlannedFault } from '../../simulator/outages/plan.ts';
import { clusterAutoscaler, kubeControllerManager, machineControllerManager } from '../../simulator/world/index.ts';

/** Plans of one kind, numbered from 1: the same number is always the same plan. */
export interface Scenario {
  readonly name: string;
  /** Explanation for people, of one line. */
  readonly what: string;
  readonly plans: readonly Plan[];
}

/** The kubelets are cut off at this instant, after the prober has seen its shoots for a while. */
const cutAtMs = 90_000;
const outageMs = 70_000;
const quietMs = 60_000;

/** Numbers of nodes: enough for the rule of all silent nodes, just enough, and too few. */
const nodesOf = { a: 5, b: 3, c: 2 };
const names = ['a', 'b', 'c'] as const;
const replicas = { [kubeControllerManager]: 2, [machineControllerManager]: 1, [clusterAutoscaler]: 1 };

/** Numbers of the nodes of a shoot that are late or have wrong clocks: about 40 %. */
const someOf = (name: keyof typeof nodesOf): readonly number[] =>
  Array.from({ length: Math.round(nodesOf[name] * 0.4) }, (_, node) => node);
const allOf = (name: keyof typeof nodesOf): readonly number[] =>
  Array.from({ length: nodesOf[name] }, (_, node) => node);

const plansOf = (seeds: number, cases: readonly (Partial<Plan> & Pick<Plan, 'faults'>)[]): readonly Plan[] =>
  cases.map((given, index) => ({
    seed: seeds + index,
    component: 'prober',
    shoots: names.map((name) => ({ name, nodes: nodesOf[name], replicas })),
    ...{ replicas: 1, elected: false, dryRun: false, latencyMs: 0, quietMs },
    faultsMs: Math.max(cutAtMs, ...given.faults.map(({ at, forMs }) => at + forMs)) + 10_000,
    ...given,
  }));

const cut = (at = cutAtMs, forMs = outageMs): PlannedFault => ({
  ...{ at, forMs },
  fault: { kind: 'load-balancer', shoot: undefined, how: 'silent' },
});
const inEach = (fault: (name: (typeof names)[number]) => Fault, at: number, forMs: number): readonly PlannedFault[] =>
  names.map((name) => ({ at, forMs, fault: fault(name) }));

const range = (from: number, to: number, step: number): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

/** Random outages of probers, the first 120. */
const outages = range(1, 200, 1)
  .map(generatePlan)
  .filter(({ component }) => component === 'prober');

/** 64 plans of three shoots: 192 restarts. */
const restarts = (['refused', 'silent'] as const).flatMap((how) =>
  [5, 10, 20, 30, 45, 60, 90, 120].flatMap((seconds) =>
    range(0, 9, 3).map((phase) => ({
      faults: inEach(
        (server) => ({ kind: 'api-server', server, trouble: { how } }),
        60_000 + phase * 1_000,
        seconds * 1_000,
      ),
    })),
  ),
);

const deaths: Readonly<Record<string, (at: number) => readonly PlannedFault[]>> = {
  killed: (at) => [{ at, forMs: 5_000, fault: { kind: 'kill', replica: 0 } }],
  stopped: (at) => [{ at, forMs: 60_000, fault: { kind: 'pause', replica: 0 } }],
  'cut off from the seed': (at) => [{ at, forMs: 60_000, fault: { kind: 'partition', replica: 0, server: 'seed' } }],
  'cut off from the shoots': (at) => inEach((server) => ({ kind: 'partition', replica: 0, server }), at, 60_000),
  'cannot write': (at) => [{ at, forMs: 60_000, fault: { kind: 'forbidden-writes', replica: 0 } }],
};
const leaders = Object.values(deaths).flatMap((death) =>
  range(-15_000, 25_000, 5_000).map((offset) => ({
    ...{ replicas: 2, elected: true, latencyMs: 20 },
    faults: [cut(), ...death(cutAtMs + offset)],
  })),
);

const late = range(0, 120_000, 10_000).flatMap((lateMs) =>
  [0, 5_000].map((phase) => ({
    faults: [
      cut(cutAtMs + phase),
      ...inEach((shoot) => ({ kind: 'nat-gateway', shoot, nodes: someOf(shoot) }), cutAtMs + phase, outageMs + lateMs),
    ],
  })),
);

const repeated = range(60_000, 300_000, 60_000).map((pauseMs) => ({
  faults: range(0, 2, 1).map((index) => cut(cutAtMs + index * (outageMs + pauseMs))),
}));

const everyAnswer = (trouble: Extract<Fault, { kind: 'api-server' }>['trouble'], at: number, forMs: number) =>
  inEach((server) => ({ kind: 'api-server', server, trouble }), at, forMs);
const wholeTime: readonly [number, number] = [40_000, 180_000];
const answers = [
  ...[0.2, 0.4, 0.6, 0.8].flatMap((part) =>
    [0, 1, 2, 3].map(() => everyAnswer({ how: 'status', status: 500, part }, ...wholeTime)),
  ),
  ...[2_000, 5_000, 8_000].flatMap((delayMs) => [0, 1].map(() => everyAnswer({ how: 'slow', delayMs }, ...wholeTime))),
  // Ten seconds are about one run, which ends with the first 429.
  ...[20, 32, 60].flatMap((retryAfter) =>
    range(0, 30_000, 6_000).map((offset) =>
      everyAnswer({ how: 'status', status: 429, retryAfter }, cutAtMs + offset, 10_000),
    ),
  ),
].flatMap((faults) => [{ faults: [cut(), ...faults] }, { faults }]);

const clocks = [-300, -120, -60, -30, -10, 10, 30, 60, 120, 300].flatMap((seconds) =>
  [allOf, someOf].flatMap((nodes) => {
    const wrong = inEach(
      (shoot) => ({ kind: 'node-clock', shoot, nodes: nodes(shoot), ms: seconds * 1_000 }),
      0,
      cutAtMs + outageMs + 60_000,
    );
    // In a healthy shoot, a new prober meets the wrong clocks.
    return [{ faults: [cut(), ...wrong] }, { faults: [...wrong, ...restartOf(60_000, 5_000)] }];
  }),
);

function restartOf(at: number, forMs: number): readonly PlannedFault[] {
  return [{ at, forMs, fault: { kind: 'kill', replica: 0 } }];
}

const starts = range(-5_000, 40_000, 2_500).map((offset) => ({
  faults: [cut(), ...restartOf(cutAtMs - 10_000, 10_000 + offset)],
}));

/** The prober's own connection to the shoots fails beside the outage, and in healthy shoots. */
const ownPath = [5_000, 20_000, 40_000].flatMap((forMs) =>
  range(-20_000, 30_000, 10_000).flatMap((offset) => {
    const away = inEach((server) => ({ kind: 'partition', replica: 0, server }), cutAtMs + offset, forMs);
    return [{ faults: [cut(), ...away] }, { faults: away }];
  }),
);

export const scenarios: readonly Scenario[] = [
  { name: 'outages', what: 'the first 120 random outages of probers', plans: outages },
  {
    name: 'restarts',
    what: '192 restarts of API servers of healthy shoots, 5 to 120 s',
    plans: plansOf(1_000, restarts),
  },
  {
    name: 'leaders',
    what: `of two probers the leader is ${Object.keys(deaths).join(', ')}, 15 s before to 25 s after the cut`,
    plans: plansOf(2_000, leaders),
  },
  { name: 'late', what: '40 % of the kubelets come back 0 to 120 s after the others', plans: plansOf(3_000, late) },
  { name: 'repeated', what: 'three outages, 60 to 300 s apart', plans: plansOf(4_000, repeated) },
  {
    name: 'answers',
    what: '20 to 80 % of the answers are 500, or take 2 to 8 s, or one is 429 with Retry-After 20, 32 or 60; with and without an outage',
    plans: plansOf(5_000, answers),
  },
  {
    name: 'clocks',
    what: 'clocks of all or 40 % of the nodes are 10 to 300 s wrong, with an outage, and at the start of a prober without one',
    plans: plansOf(6_000, clocks),
  },
  { name: 'starts', what: 'a prober starts 5 s before to 40 s after the cut', plans: plansOf(7_000, starts) },
  {
    name: 'own-path',
    what: "the prober's own connections to the shoots fail for 5 to 40 s, 20 s before to 30 s after the cut; with and without an outage",
    plans: plansOf(8_000, ownPath),
  },
];
