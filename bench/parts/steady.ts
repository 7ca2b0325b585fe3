// Measures the cost of probing the shoots of a healthy seed.
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { gardenConfig, probeIntervalMs } from '../harness/garden-config.ts';
import { startHealthyWorld } from '../harness/healthy-world.ts';
import { inPercent, measureHealthy, sizeOf, trafficColumns } from '../harness/healthy.ts';
import {
  type BenchOptions,
  type PartOutcome,
  type PartResult,
  type Size,
  attempt,
  partResult,
} from '../harness/part.ts';
import { type Column, inMegabytes, tableOf } from '../harness/table.ts';
import type { Target } from '../harness/target.ts';
import { type SteadyResult, probeMs, ratioToFloor, steadyFailures } from './steady-aims.ts';

interface Plan extends Size {
  /** Default: the prober's default, a third of gardenlet's interval. */
  readonly intervalMs?: number;
}

/** Plans that are measured one after the other. */
type Track = readonly Plan[];

/** Tracks of a phase run at the same time, because one shoot takes minutes for enough probes and uses hardly any CPU. */
const allPhases: readonly (readonly Track[])[] = [
  [
    [
      { shoots: 10, nodes: 50 },
      { shoots: 100, nodes: 50 },
      { shoots: 250, nodes: 50 },
      { shoots: 250, nodes: 50, intervalMs: probeIntervalMs },
    ],
    [{ shoots: 1, nodes: 1_000 }],
    [{ shoots: 1, nodes: 5_000 }],
  ],
  [[{ shoots: 1_000, nodes: 50 }]],
];
const quickSize: Size = { shoots: 3, nodes: 5 };
/** Long, because programs may wait for their `initialDelay` first and probe the shoots one after the other. */
const warmUpLimitMs = 180_000;
/** Factor of an interval with the maximum jitter. */
const longest = 1.2;
const fewestProbes = 30;

const phasesOf = ({ quick, shoots, nodes }: BenchOptions): readonly (readonly Track[])[] => {
  if (shoots !== undefined || nodes !== undefined) return [[[{ shoots: shoots ?? 1, nodes: nodes ?? 50 }]]];
  return quick ? [[[quickSize]]] : allPhases;
};

const paceFor = ({ shoots, intervalMs = 10_000 }: Plan, quick: boolean) => {
  // Enough to show that the harness works; the figures mean nothing.
  if (quick) return { intervalMs: 1_000, warmUps: 1, intervals: 3 };
  // After a thousand probes the code is compiled. Where that would take many minutes, two probes at least allow every TLS session to be resumed.
  const warmUps = shoots < 100 ? 2 : Math.max(2, Math.ceil(1_000 / shoots));
  return { intervalMs, warmUps, intervals: Math.max(3, Math.ceil(fewestProbes / shoots)) };
};

const measure = (target: Target, plan: Plan, options: BenchOptions): Promise<PartOutcome<SteadyResult>> => {
  const { clock, quick } = options;
  const what = `steady state: ${target.name}, ${String(plan.shoots)} shoots of ${String(plan.nodes)} nodes`;
  return attempt(what, options, async (directory) => {
    const world = await startHealthyWorld(plan, directory);
    try {
      const { intervalMs, warmUps, intervals } = paceFor(plan, quick);
      const { figures, probes, floor } = await measureHealthy(target, {
        component: 'prober',
        config: gardenConfig(kubeconfigSecretName, { probeIntervalMs: intervalMs, initialDelayMs: 1_000 }),
        ...{ clock, world, size: { shoots: plan.shoots, nodes: plan.nodes }, directory, warmUps, warmUpLimitMs },
        measureMs: intervals * longest * intervalMs,
        floorIntervalMs: intervalMs,
      });
      return { ...figures, intervalMs, probes, floor };
    } finally {
      await world.end();
    }
  });
};

const runTrack = async (track: Track, options: BenchOptions): Promise<readonly PartOutcome<SteadyResult>[]> => {
  const outcomes: PartOutcome<SteadyResult>[] = [];
  for (const plan of track) {
    for (const target of options.targets) outcomes.push(await measure(target, plan, options));
  }
  return outcomes;
};

const costColumns: readonly Column<SteadyResult>[] = [
  ['program', (row) => row.target],
  ['shoots x nodes', sizeOf],
  ['interval', (row) => `${String(row.intervalMs / 1_000)} s`],
  ['CPU', (row) => inPercent(row.cpuSeconds, row)],
  ['CPU ms a probe', (row) => probeMs(row).toFixed(2)],
  ['floor: ms', (row) => probeMs(row.floor).toFixed(2)],
  ['ratio', (row) => ratioToFloor(row).toFixed(2)],
  ['peak MB', (row) => inMegabytes(row.peakBytes)],
  ['floor: MB', (row) => inMegabytes(row.floor.peakBytes)],
  ['world CPU', (row) => inPercent(row.worldCpuSeconds, row)],
  ['other CPU', (row) => inPercent(row.otherCpuSeconds, row)],
];

const requestColumns: readonly Column<SteadyResult>[] = [
  ['program', (row) => row.target],
  ['shoots x nodes', sizeOf],
  ['probes', (row) => row.probes],
  ...trafficColumns<SteadyResult>('probe', ({ probes }) => probes),
];

const markdownOf = (results: readonly SteadyResult[]): string =>
  [
    '## Healthy steady state',
    '',
    tableOf(costColumns, results),
    '',
    'CPU in percent of one processor, over the whole measurement; `other CPU` is what everything else on the machine used meanwhile. The floor makes',
    'the same requests at the same pace beside it. A probe is one list of leases; kB out and in are those of one probe, TLS included.',
    '',
    tableOf(requestColumns, results),
  ].join('\n');

const sizeRank = (outcome: PartOutcome<SteadyResult>): readonly [number, number] =>
  'result' in outcome ? [outcome.result.nodes, outcome.result.shoots] : [0, 0];

export const runSteady = async (options: BenchOptions): Promise<PartResult> => {
  const outcomes: PartOutcome<SteadyResult>[] = [];
  for (const tracks of phasesOf(options)) {
    outcomes.push(...(await Promise.all(tracks.map((track) => runTrack(track, options)))).flat());
  }
  outcomes.sort((a, b) => sizeRank(a)[0] - sizeRank(b)[0] || sizeRank(a)[1] - sizeRank(b)[1]);
  const { markdown, missed, json } = partResult(outcomes, markdownOf);
  const results = outcomes.flatMap((outcome) => ('result' in outcome ? [outcome.result] : []));
  const aims = options.targets.flatMap(({ name }) =>
    steadyFailures(results.filter(({ target }) => target === name)).map((failure) => `${name}: ${failure}`),
  );
  return { markdown, missed: [...missed, ...aims], json };
};
