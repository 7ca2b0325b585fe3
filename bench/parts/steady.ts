// Measures the cost of probing the shoots of a healthy seed, beside a bare loop.
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { startServed } from '../../test/envtest/served.ts';
import { type Workplace, attempt } from '../harness/attempt.ts';
import { write } from '../harness/command.ts';
import { type Cost, startCost } from '../harness/cost.ts';
import { gardenConfig, probeIntervalMs } from '../harness/garden-config.ts';
import type { BenchOptions } from '../harness/options.ts';
import { type Column, inMegabytes, inPercent, tableOf } from '../harness/table.ts';
import { startTarget, waitForTarget } from '../harness/target.ts';
import type { FloorInit, FloorProcess } from '../worlds/floor.ts';
import type { SeedInit, SeedProcess, Size } from '../worlds/seed.ts';

interface Plan extends Size {
  /** Default: the prober's default, a third of gardenlet's interval. */
  readonly intervalMs?: number;
}

/** Plans that are measured one after the other. */
type Track = readonly Plan[];

/** They run at the same time, because one shoot takes minutes for enough probes and uses hardly any CPU. */
const allTracks: readonly Track[] = [
  [
    { shoots: 10, nodes: 50 },
    { shoots: 100, nodes: 50 },
    { shoots: 250, nodes: 50 },
    { shoots: 250, nodes: 50, intervalMs: probeIntervalMs },
    { shoots: 1_000, nodes: 50 },
  ],
  [{ shoots: 1, nodes: 1_000 }],
  [{ shoots: 1, nodes: 5_000 }],
];
/** Long, because programs may probe the shoots one after the other. */
const warmUpLimitMs = 180_000;
/** Factor of an interval with the maximum jitter. */
const longest = 1.2;
const fewestProbes = 30;

/** After a thousand probes the code is compiled. Where that would take many minutes, two probes at least allow every TLS session to be resumed. */
const warmUpsOf = ({ shoots }: Plan): number => (shoots < 100 ? 2 : Math.max(2, Math.ceil(1_000 / shoots)));
const intervalsOf = ({ shoots }: Plan): number => Math.max(3, Math.ceil(fewestProbes / shoots));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Costs in the healthy steady state of a seed of one size. */
interface SteadyResult extends Required<Plan>, Cost<'program' | 'floor' | 'world'> {
  readonly probes: Readonly<Record<'program' | 'floor', number>>;
}

const measure = async (
  plan: Plan,
  { target, scale }: BenchOptions,
  { directory, atEnd }: Workplace,
): Promise<SteadyResult> => {
  const { shoots, nodes, intervalMs = 10_000 } = plan;
  const init: SeedInit = { shoots, nodes, scale };
  const world = startServed<SeedProcess>(new URL('../worlds/seed.ts', import.meta.url), init);
  atEnd(() => world.end());
  const { kubeconfig } = await world.ready();
  const floorInit: FloorInit = { ...(await world.order('openDoors')), intervalMs: intervalMs * scale };
  const bareLoop = startServed<FloorProcess>(new URL('../worlds/floor.ts', import.meta.url), floorInit);
  atEnd(() => bareLoop.end());
  const config = gardenConfig(kubeconfigSecretName, { scale, intervalMs });
  const program = await startTarget(target, { component: 'prober', config, kubeconfig, directory });
  atEnd(() => program.stop());
  await bareLoop.ready();
  const wait = { what: `${target.name} to see every shoot`, withinMs: warmUpLimitMs };
  await waitForTarget(program, wait, async () => Math.min(...(await world.order('probes'))) >= warmUpsOf(plan));
  const probes = async () => [sum(await world.order('probes')), await bareLoop.order('probes')] as const;
  const endCost = startCost({ program: program.pid, floor: bareLoop.pid, world: world.pid });
  const before = await probes();
  await sleep(intervalsOf(plan) * longest * intervalMs * scale);
  program.check();
  const cost = endCost();
  const after = await probes();
  return {
    ...{ shoots, nodes, intervalMs, ...cost },
    probes: { program: after[0] - before[0], floor: after[1] - before[1] },
  };
};

/** CPU milliseconds per probe. */
const probeMs = ({ cpu, probes }: SteadyResult, name: 'program' | 'floor'): number =>
  (1_000 * cpu[name]) / probes[name];

const sizeOf = ({ shoots, nodes }: Size): string => `${String(shoots)} x ${String(nodes)}`;

const columns: readonly Column<SteadyResult>[] = [
  ['shoots x nodes', sizeOf],
  ['interval', (row) => `${String(row.intervalMs / 1_000)} s`],
  ['probes', (row) => row.probes.program],
  ['CPU', (row) => inPercent(row.cpu.program, row.seconds)],
  ['CPU ms a probe', (row) => probeMs(row, 'program').toFixed(2)],
  ['floor: ms', (row) => probeMs(row, 'floor').toFixed(2)],
  ['ratio', (row) => (probeMs(row, 'program') / probeMs(row, 'floor')).toFixed(2)],
  ['peak MB', (row) => inMegabytes(row.peakBytes.program)],
  ['floor: MB', (row) => inMegabytes(row.peakBytes.floor)],
  ['world CPU', (row) => inPercent(row.cpu.world, row.seconds)],
  ['other CPU', (row) => inPercent(row.otherCpuSeconds, row.seconds)],
];

const markdownOf = (results: readonly SteadyResult[]): string => `
## Healthy steady state

${tableOf(columns, results)}

CPU in percent of one processor, over the whole measurement; \`other CPU\` is what everything else on the machine used meanwhile. The floor makes
the same requests at the same pace beside it. Aims: 1000 x 50 on one processor and in 400 MB, at most 15 % more a probe than 100 x 50; ratio 2.`;

export const runSteady = async (options: BenchOptions): Promise<boolean> => {
  const { shoots, nodes } = options;
  const isOne = shoots !== undefined || nodes !== undefined;
  const tracks = isOne ? [[{ shoots: shoots ?? 1, nodes: nodes ?? 50 }]] : allTracks;
  const runTrack = async (track: Track): Promise<readonly (SteadyResult | undefined)[]> => {
    const results: (SteadyResult | undefined)[] = [];
    for (const plan of track) {
      results.push(await attempt(`steady state: ${sizeOf(plan)}`, (place) => measure(plan, options, place)));
    }
    return results;
  };
  const results = (await Promise.all(tracks.map(runTrack))).flat();
  const measured = results.filter((result) => result !== undefined);
  if (measured.length > 0) write(markdownOf(measured));
  return measured.length === results.length;
};
