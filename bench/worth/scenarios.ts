import { generatePlan } from '../../simulator/outages/generate.ts';
import type { Fault, Plan, PlannedFault } from '../../simulator/outages/plan.ts';
import { clusterAutoscaler, kubeControllerManager, machineControllerManager } from '../../simulator/world/index.ts';

/** Plans of one kind, numbered from 1: the same number is always the same plan. */
export interface PlayedIncident {
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

type Case = Partial<Plan> & Pick<Plan, 'faults'>;

const plansOf = (seeds: number, cases: readonly Case[]): readonly Plan[] =>
  cases.map((given, index) => ({
    seed: seeds + index,
    component: 'prober',
    shoots: names.map((name) => ({ name, nodes: nodesOf[name], replicas })),
    ...{ replicas: 1, elected: false, dryRun: false, latencyMs: 0, quietMs },
    faultsMs: Math.max(cutAtMs, ...given.faults.map(({ at, forMs }) => at + forMs)) + 10_000,
    ...given,
  }));

const cut = (at = cutAtMs, forMs = outageMs, how: 'refused' | 'silent' = 'silent'): PlannedFault => ({
  ...{ at, forMs },
  fault: { kind: 'load-balancer', shoot: undefined, how },
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
  'cannot write': (at) => [{ at, forMs: 60_000, fault: { kind: 'writes', replica: 0, how: { status: 403 } } }],
};
const leaders = Object.values(deaths).flatMap((death) =>
  range(-15_000, 25_000, 10_000).map((offset) => ({
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
    [0, 1].map(() => everyAnswer({ how: 'status', status: 500, part }, ...wholeTime)),
  ),
  ...[2_000, 5_000, 8_000].flatMap((delayMs) => [0, 1].map(() => everyAnswer({ how: 'slow', delayMs }, ...wholeTime))),
  // Ten seconds are about one run, which ends with the first 429.
  ...[20, 32, 60].flatMap((retryAfter) =>
    range(0, 30_000, 6_000).map((offset) =>
      everyAnswer({ how: 'status', status: 429, retryAfter }, cutAtMs + offset, 10_000),
    ),
  ),
  ...range(0, 12_000, 3_000).map((offset) => [
    ...everyAnswer({ how: 'status', status: 500 }, cutAtMs + offset, 12_000),
    ...everyAnswer({ how: 'status', status: 401 }, cutAtMs + offset + 12_000, 9_000),
  ]),
].flatMap((faults) => [{ faults: [cut(), ...faults] }, { faults }]);

const clocks = [-300, -30, -10, 10, 30, 300].flatMap((seconds) =>
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

/** So short that no node can turn Unknown, as when a load balancer restarts. */
const blips = (['refused', 'silent'] as const).flatMap((how) =>
  [6, 10, 14, 17, 20, 24].flatMap((seconds) =>
    range(0, 8_000, 4_000).map((phase) => ({ faults: [cut(cutAtMs + phase, seconds * 1_000, how)] })),
  ),
);

/** An API server that fails everybody: kubelets and KCM get no connection, and the prober gets a proof. */
const failing = (
  [
    { how: 'status', status: 503 },
    { how: 'slow', delayMs: 120_000 },
  ] as const
).flatMap((trouble) =>
  [15_000, 30_000, 60_000, 300_000].flatMap((forMs) =>
    [60_000, 65_000].flatMap((at) => {
      const down = [...everyAnswer(trouble, at, forMs), ...everyAnswer({ how: 'refused' }, at, forMs)];
      return [{ faults: down }, { faults: [...down, cut(at + forMs - 1_000)] }];
    }),
  ),
);

/** Probes are rare, so none of them meets the API server while it is away. */
const unseen = range(0, 29_000, 1_000).map((phase) => ({
  settings: { probeIntervalMs: 30_000 },
  shoots: names.map((name) => ({ name, nodes: nodesOf[name] + 7, replicas })),
  faults: everyAnswer({ how: 'refused' }, 80_000 + phase, 15_000),
}));

const flaps = [60_000, 120_000, 180_000].flatMap((forMs) =>
  [60_000, 120_000, 180_000].map((pauseMs) => ({
    faults: range(cutAtMs, cutAtMs + 1_200_000 - forMs, forMs + pauseMs).flatMap((at) => [
      cut(at, forMs),
      ...inEach((shoot) => ({ kind: 'nat-gateway', shoot, nodes: someOf(shoot) }), at, forMs + pauseMs - 10_000),
    ]),
  })),
);

const throttled = [1, 10, 60].flatMap((retryAfter) =>
  [0.5, 1].flatMap((part) => {
    const faults = everyAnswer({ how: 'status', status: 429, retryAfter, part }, 60_000, 300_000);
    return [{ faults }, { faults: [...faults, cut()] }];
  }),
);

const flaky = [0.2, 0.4, 0.6].flatMap((part) =>
  range(1, 4, 1).flatMap(() => {
    const faults = everyAnswer({ how: 'flaky', part }, ...wholeTime);
    return [{ faults }, { faults: [...faults, cut()] }];
  }),
);

const noStamps = inEach((shoot) => ({ kind: 'no-stamps', shoot }), 0, 400_000);
const unstamped = [-300, -30, 0, 30].flatMap((seconds) => {
  const clock = inEach(
    (shoot) => ({ kind: 'node-clock', shoot, nodes: allOf(shoot), ms: seconds * 1_000 }),
    0,
    cutAtMs + outageMs + 60_000,
  );
  const faults = [...noStamps, ...clock];
  return [
    { faults: [...faults, cut()] },
    { faults: [...faults, cut(), ...restartOf(cutAtMs - 5_000, 10_000)] },
    { faults: [...faults, ...restartOf(60_000, 2_000)] },
    { faults: [...faults, ...restartOf(60_000, 7_000)] },
  ];
});

const twoServers = [-60, -20, 60].flatMap((seconds) =>
  [3_000, 10_000].flatMap((turnMs) => {
    const turns = range(0, 240_000, 2 * turnMs).flatMap((at) =>
      inEach((server) => ({ kind: 'api-server-clock', server, ms: seconds * 1_000 }), at, turnMs),
    );
    return [{ faults: turns }, { faults: [...turns, cut()] }, { faults: [...turns, ...restartOf(60_000, 5_000)] }];
  }),
);

const startsAfter = [15_000, 35_000].flatMap((forMs) =>
  range(-2_500, 5_500, 2_000).flatMap((offset) =>
    [[], noStamps].map((stamps) => ({
      faults: [
        ...stamps,
        ...everyAnswer({ how: 'refused' }, cutAtMs, forMs),
        ...restartOf(cutAtMs - 10_000, 10_000 + forMs + offset),
      ],
    })),
  ),
);

/** Early random outages, changed. */
const outagesWith = (change: (plan: Plan) => Partial<Plan>): readonly Plan[] =>
  outages.slice(0, 40).map((plan) => ({ ...plan, ...change(plan) }));

const longLeases = outagesWith(({ shoots, faults }) => ({
  faults: [
    ...faults,
    ...shoots.map(
      ({ name: shoot }): PlannedFault => ({
        ...{ at: 10_000, forMs: 1 },
        fault: { kind: 'long-leases', shoot, nodes: [0], seconds: 250 },
      }),
    ),
  ],
}));

const graces = [10_000, 12_000, 20_000].flatMap((graceMs) =>
  [0, 4_000].flatMap((phase) => {
    const shoots = names.map((name) => ({ name, nodes: nodesOf[name], replicas, graceMs }));
    return [
      { shoots, faults: [cut(cutAtMs + phase)] },
      { shoots, faults: restartOf(60_000 + phase, 5_000) },
    ];
  }),
);

const slowSeed: readonly Case[] = [
  ...[10_000, 40_000].map((observeMs) => ({ observeMs, faults: [cut()] })),
  ...([{ status: 403 }, { delayMs: 5_000 }, { delayMs: 12_000 }] as const).flatMap((how) =>
    [machineControllerManager, clusterAutoscaler].map(
      (deployment): Case => ({
        faults: [cut(), { at: cutAtMs - 5_000, forMs: 60_000, fault: { kind: 'writes', deployment, how } }],
      }),
    ),
  ),
];

const suspended = range(10_000, 24_000, 2_000).flatMap((after) =>
  [5_000, 15_000].map(
    (rest): Case => ({
      faults: [
        cut(cutAtMs, after + rest),
        { at: cutAtMs + after, forMs: 60_000, fault: { kind: 'pause', replica: 0 } },
        { at: cutAtMs, forMs: 120_000, fault: { kind: 'writes', how: { delayMs: 2_000 } } },
      ],
    }),
  ),
);

const interrupted = range(0, 100_000, 25_000).flatMap((offset): readonly Case[] => {
  const during = { at: cutAtMs + offset, forMs: 40_000 };
  const noSeed: PlannedFault = { ...during, fault: { kind: 'partition', replica: 0, server: 'seed' } };
  return [
    { faults: [cut(), { ...during, fault: { kind: 'lost-answers', how: 'drop', part: 0.5 } }] },
    { faults: [cut(), { ...during, fault: { kind: 'lost-answers', how: 'reset', part: 1 } }] },
    { faults: [cut(), noSeed, cut(cutAtMs + outageMs + 30_000, 40_000)] },
    { faults: [cut(), noSeed, ...inEach((shoot) => ({ kind: 'hibernation', shoot }), during.at + 5_000, 200_000)] },
  ];
});

/** A second outage begins after the restoration has begun, and the prober does not see it: MCM's delay outlasts the verdict. */
const stale = range(10_000, 35_000, 5_000).map((after) => {
  const at = cutAtMs + outageMs + after;
  return {
    faults: [cut(), cut(at, 900_000), ...inEach((server) => ({ kind: 'partition', replica: 0, server }), at, 900_000)],
  };
});

/** A pause ends while the connections of the prober fail, in an outage or after it. */
const paused = [30_000, 35_000, 40_000, 50_000, 60_000, 75_000].flatMap((end) =>
  [25_000, 200_000].map(
    (lasts): Case => ({
      faults: [
        cut(cutAtMs, lasts),
        {
          at: 0,
          forMs: cutAtMs + end,
          fault: { kind: 'protection-pause', shoot: undefined, ms: cutAtMs + end, expires: false },
        },
        ...inEach((server) => ({ kind: 'partition', replica: 0, server }), cutAtMs + 24_000, 76_000),
      ],
    }),
  ),
);

/** With gardenlet's interval, and the connections of the prober failing for a while, another writer's KCM would run for its whole grace period. */
const contested = [false, true].flatMap((isBlind) =>
  [2_000, 5_000, 12_000, 25_000].map(
    (everyMs): Case => ({
      settings: { probeIntervalMs: isBlind ? 30_000 : 10_000 },
      faults: [
        cut(),
        ...inEach(
          (shoot) => ({ kind: 'autoscaler', shoot, deployment: kubeControllerManager, everyMs, fromZero: true }),
          cutAtMs,
          outageMs,
        ),
        ...(isBlind ? inEach((server) => ({ kind: 'partition', replica: 0, server }), cutAtMs + 40_000, 45_000) : []),
      ],
    }),
  ),
);

const pair = { replicas: 2, elected: true, latencyMs: 20 } as const;
/** The leader dies while it scales down or restores. */
const midway = (['killed', 'stopped', 'cannot write'] as const).flatMap((death) =>
  [11_000, 15_000, 19_000, 23_000, 90_000, 110_000].map((offset) => ({
    ...pair,
    faults: [cut(), ...(deaths[death]?.(cutAtMs + offset) ?? [])],
  })),
);
/** One of two probers is away at the end of the outage, also with gardenlet's interval, or must leave the shoot alone. */
const ends = [0, 1].flatMap((replica) =>
  [-10_000, 10_000].flatMap((offset): readonly Case[] => {
    const during = { at: cutAtMs + outageMs + offset, forMs: 30_000 };
    return [
      { ...pair, faults: [cut(), ...inEach((server) => ({ kind: 'partition', replica, server }), during.at, 30_000)] },
      { ...pair, faults: [cut(), { ...during, fault: { kind: 'partition', replica, server: 'seed' } }] },
      { ...pair, faults: [cut(), { ...during, fault: { kind: 'pause', replica } }] },
      { ...pair, faults: [cut(), ...inEach((shoot) => ({ kind: 'no-workers', shoot }), during.at, 60_000)] },
      {
        ...pair,
        settings: { probeIntervalMs: 30_000 },
        faults: [cut(), ...inEach((server) => ({ kind: 'partition', replica, server }), during.at - 5_000, 60_000)],
      },
    ];
  }),
);

export const scenarios: readonly PlayedIncident[] = [
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
    what: '20 to 80 % of the answers are 500, or take 2 to 8 s, or one is 429 with Retry-After 20, 32 or 60, or 12 s of 500 are followed by 9 s of 401; with and without an outage',
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
  { name: 'blips', what: 'cuts of 6 to 24 s, after which no node turns Unknown', plans: plansOf(9_000, blips) },
  {
    name: 'failing',
    what: 'the API server fails everybody for 15 to 300 s; with an outage after it and without',
    plans: plansOf(10_000, failing),
  },
  {
    name: 'unseen',
    what: 'the API server is away for 15 s between two probes 30 s apart',
    plans: plansOf(11_000, unseen),
  },
  {
    name: 'flaps',
    what: 'outages of 1 to 3 minutes come and go for 20, with kubelets that are late until the next',
    plans: plansOf(12_000, flaps),
  },
  {
    name: 'throttled',
    what: '50 or 100 % of the answers are 429 for 5 minutes; with and without an outage',
    plans: plansOf(13_000, throttled),
  },
  {
    name: 'flaky',
    what: '20 to 60 % of the requests hang, fail or are slow; with and without an outage',
    plans: plansOf(14_000, flaky),
  },
  {
    name: 'unstamped',
    what: 'the API server stamps no renewals, clocks of nodes are -300 to 30 s wrong; with an outage, and at starts of a prober',
    plans: plansOf(15_000, unstamped),
  },
  {
    name: 'two-servers',
    what: 'two API servers whose clocks differ by 20 or 60 s answer in turn; with and without an outage or a start of a prober',
    plans: plansOf(16_000, twoServers),
  },
  {
    name: 'starts-after',
    what: 'a prober starts when the API server has just come back after 15 or 35 s',
    plans: plansOf(17_000, startsAfter),
  },
  {
    name: 'long-leases',
    what: 'the first 40 random outages, with one lease of 250 s in each shoot',
    plans: longLeases,
  },
  {
    name: 'external',
    what: 'the first 40 random outages, with an external probe in mode trigger',
    plans: outagesWith(() => ({ outside: 'trigger' })),
  },
  {
    name: 'graces',
    what: 'grace periods of 10 to 20 s; an outage, or a start of a prober',
    plans: plansOf(18_000, graces),
  },
  {
    name: 'slow-seed',
    what: 'the seed is slow to scale, or forbids or delays writes to MCM or the autoscaler',
    plans: plansOf(19_000, slowSeed),
  },
  {
    name: 'suspended',
    what: 'the only prober is suspended while it scales down, and the outage is over when it resumes',
    plans: plansOf(20_000, suspended),
  },
  {
    name: 'interrupted',
    what: 'responses of the seed are lost, or it is away, in an outage; also with a second outage, and a hibernation',
    plans: plansOf(21_000, interrupted),
  },
  {
    name: 'stale',
    what: 'during the restoration a second outage begins, and the connections of the prober fail',
    plans: plansOf(24_000, stale),
  },
  {
    name: 'paused',
    what: 'a pause ends while the connections of the prober fail, in an outage or after it',
    plans: plansOf(26_000, paused),
  },
  {
    name: 'contested',
    what: 'another writer scales KCM up every 2 to 25 s of an outage; also while the connections of the prober fail',
    plans: plansOf(25_000, contested),
  },
  { name: 'midway', what: 'the leader dies while it scales down or restores', plans: plansOf(22_000, midway) },
  {
    name: 'ends',
    what: 'of two probers one is away when the outage ends, or the workers are removed',
    plans: plansOf(23_000, ends),
  },
];
