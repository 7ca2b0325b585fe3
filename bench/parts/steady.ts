// Measures the cost of probing the shoots of a healthy seed, beside a bare loop.
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { startServed } from '../../test/envtest/served.ts';
import { startCost } from '../harness/cost.ts';
import { gardenConfig, probeIntervalMs } from '../harness/garden-config.ts';
import {
  type BenchOptions,
  type Outcome,
  type PartResult,
  type Size,
  attempt,
  missesOf,
  sortOutcomes,
} from '../harness/part.ts';
import { type Column, inKilobytes, inMegabytes, inPercent, tableOf } from '../harness/table.ts';
import { startTarget, waitForTarget } from '../harness/target.ts';
import { type Counts, type Traffic, addTraffic, probeKind } from '../harness/traffic.ts';
import type { FloorInit, FloorProcess } from '../worlds/floor.ts';
import type { SeedInit, SeedProcess } from '../worlds/seed.ts';

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

/** CPU seconds and peak memory of a program that probes, and the number of its probes. */
interface Probing {
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly probes: number;
}

/** Costs in the healthy steady state of a seed of one size. */
export interface SteadyResult extends Size, Probing {
  readonly intervalMs: number;
  readonly seconds: number;
  /** Traffic of the program with the shoots. */
  readonly traffic: Traffic;
  /** Number of requests to the seed. */
  readonly seedRequests: number;
  readonly floor: Probing;
  readonly worldCpuSeconds: number;
  /** CPU seconds of everything else on the machine. */
  readonly otherCpuSeconds: number;
}

const measure = async (plan: Plan, directory: string, { target, quick }: BenchOptions): Promise<SteadyResult> => {
  const { shoots, nodes } = plan;
  const { intervalMs, warmUps, intervals } = paceFor(plan, quick);
  const init: SeedInit = { shoots, nodes, scale: 1 };
  const world = startServed<SeedProcess>(new URL('../worlds/seed.ts', import.meta.url), init);
  try {
    const { kubeconfig } = await world.ready();
    const floorInit: FloorInit = { ...(await world.order('openDoors')), intervalMs };
    const bareLoop = startServed<FloorProcess>(new URL('../worlds/floor.ts', import.meta.url), floorInit);
    const config = gardenConfig(kubeconfigSecretName, { probeIntervalMs: intervalMs, initialDelayMs: 1_000 });
    const program = startTarget(target, { component: 'prober', config, kubeconfig, directory });
    try {
      await bareLoop.ready();
      const wait = { what: `${target.name} to see every shoot`, withinMs: warmUpLimitMs };
      await waitForTarget(program, wait, async () => (await world.order('fewestProbes')) >= warmUps);
      const read = async () => ({ traffic: await world.order('traffic'), floor: await bareLoop.order('probes') });
      await world.order('measure');
      const endCost = startCost({ program: program.pid, floor: bareLoop.pid, world: world.pid });
      const before = await read();
      await sleep(intervals * longest * intervalMs);
      program.check();
      const { seconds, cpu, peakBytes, otherCpuSeconds } = endCost();
      const after = await read();
      const traffic = addTraffic(after.traffic, before.traffic, -1);
      const of = (name: 'program' | 'floor', probes: number): Probing => ({
        cpuSeconds: cpu[name],
        peakBytes: peakBytes[name],
        probes,
      });
      return {
        ...{ shoots, nodes, intervalMs, seconds, traffic, otherCpuSeconds, worldCpuSeconds: cpu.world },
        ...of('program', traffic.requests[probeKind] ?? 0),
        floor: of('floor', after.floor - before.floor),
        seedRequests: (await world.order('report')).requests.length,
      };
    } finally {
      await program.stop();
      await bareLoop.end();
    }
  } finally {
    await world.end();
  }
};

/** CPU milliseconds per probe. */
const probeMs = ({ cpuSeconds, probes }: Probing): number => (1_000 * cpuSeconds) / probes;

const ratioToFloor = (result: SteadyResult): number => probeMs(result) / probeMs(result.floor);

const sizeOf = ({ shoots, nodes }: Size): string => `${String(shoots)} x ${String(nodes)}`;

/** Names the missed aims, as far as the sizes for them were measured. */
export const steadyFailures = (results: readonly SteadyResult[]): readonly string[] => {
  const [small, large] = [100, 1_000].map((shoots) =>
    results.find((result) => result.shoots === shoots && result.nodes === 50),
  );
  const processors = large === undefined ? 0 : large.cpuSeconds / large.seconds;
  const growth = small === undefined || large === undefined ? 0 : probeMs(large) / probeMs(small) - 1;
  const [bytes, percent] = [large?.peakBytes ?? 0, (100 * growth).toFixed(0)];
  return missesOf([
    [processors < 1, `1000 shoots took ${processors.toFixed(2)} processors, aim 1`],
    [bytes < 400e6, `1000 shoots took ${inMegabytes(bytes)} MB, aim 400`],
    [Math.abs(growth) <= 0.15, `a probe cost ${percent} % more with 1000 shoots than with 100, aim 15 % at most`],
    ...results.map((result) => {
      const ratio = ratioToFloor(result);
      return [ratio <= 2, `a probe cost ${ratio.toFixed(2)} times the floor with ${sizeOf(result)}, aim 2`] as const;
    }),
  ]);
};

const costColumns: readonly Column<SteadyResult>[] = [
  ['shoots x nodes', sizeOf],
  ['interval', (row) => `${String(row.intervalMs / 1_000)} s`],
  ['CPU', (row) => inPercent(row.cpuSeconds, row.seconds)],
  ['CPU ms a probe', (row) => probeMs(row).toFixed(2)],
  ['floor: ms', (row) => probeMs(row.floor).toFixed(2)],
  ['ratio', (row) => ratioToFloor(row).toFixed(2)],
  ['peak MB', (row) => inMegabytes(row.peakBytes)],
  ['floor: MB', (row) => inMegabytes(row.floor.peakBytes)],
  ['world CPU', (row) => inPercent(row.worldCpuSeconds, row.seconds)],
  ['other CPU', (row) => inPercent(row.otherCpuSeconds, row.seconds)],
];

/** Formats the kinds of requests, the most frequent first, with their number per probe and the size of a response. */
const requestsOf = ({ traffic: { requests, bytes }, probes }: SteadyResult): string =>
  Object.entries(requests)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${(count / probes).toFixed(2)} ${kind} (${inKilobytes((bytes[kind] ?? 0) / count)} kB)`)
    .join(', ');

const tcp = (row: SteadyResult, name: keyof Counts): number => row.traffic.tcp[name] ?? 0;

const requestColumns: readonly Column<SteadyResult>[] = [
  ['shoots x nodes', sizeOf],
  ['probes', (row) => row.probes],
  ['connections a probe', (row) => (tcp(row, 'connections') / row.probes).toFixed(2)],
  ['resumed', (row) => `${((100 * tcp(row, 'resumed')) / tcp(row, 'connections')).toFixed(0)} %`],
  ['kB out', (row) => inKilobytes(tcp(row, 'bytesIn') / row.probes)],
  ['kB in', (row) => inKilobytes(tcp(row, 'bytesOut') / row.probes)],
  ['requests to the shoot a probe (answer)', requestsOf],
  ['requests to the seed', (row) => row.seedRequests],
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

export const runSteady = async (options: BenchOptions): Promise<PartResult> => {
  const runTrack = async (track: Track): Promise<readonly Outcome<SteadyResult>[]> => {
    const outcomes: Outcome<SteadyResult>[] = [];
    for (const plan of track) {
      outcomes.push(await attempt(`steady state: ${sizeOf(plan)}`, (directory) => measure(plan, directory, options)));
    }
    return outcomes;
  };
  const outcomes: Outcome<SteadyResult>[] = [];
  for (const tracks of phasesOf(options)) outcomes.push(...(await Promise.all(tracks.map(runTrack))).flat());
  const { results, failures } = sortOutcomes(outcomes);
  results.sort((a, b) => a.nodes - b.nodes || a.shoots - b.shoots);
  return { markdown: markdownOf(results), missed: [...failures, ...steadyFailures(results)], json: results };
};
