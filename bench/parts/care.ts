// Measures the cost of checking every shoot of a healthy seed once a minute.
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { startHealthyWorld } from '../harness/healthy-world.ts';
import { type Figures, inPercent, measureHealthy, sizeOf, trafficColumns } from '../harness/healthy.ts';
import { type BenchOptions, type PartResult, measureEachTarget, partResult } from '../harness/part.ts';
import { type Column, inMegabytes, tableOf } from '../harness/table.ts';
import type { Target } from '../harness/target.ts';

/** Result of `dwd care`, or of another program with its flags, with healthy shoots and without a garden. */
interface CareResult extends Figures {
  readonly periodMs: number;
  /** Number of checks of a shoot, counted as requests that list leases. */
  readonly runs: number;
  /** Number of logged changes of a condition to another status than True, since the start. Each is an error, because all shoots are healthy. */
  readonly notTrue: number;
}

const usual = { shoots: 250, nodes: 50, periodMs: 60_000, warmUps: 2 };
/** Enough to show that the harness works; the figures mean nothing. */
const quickly: typeof usual = { shoots: 10, nodes: 5, periodMs: 2_000, warmUps: 1 };
const measuredPeriods = 2;
const warmUpLimitMs = 600_000;

const countNotTrue = (output: string): number =>
  output.split('\n').filter((line) => line.includes('"msg":"condition changed"') && !line.includes('"status":"True"'))
    .length;

const measure = async (target: Target, directory: string, options: BenchOptions): Promise<CareResult> => {
  const { periodMs, warmUps, ...usualSize } = options.quick ? quickly : usual;
  const size = { shoots: options.shoots ?? usualSize.shoots, nodes: options.nodes ?? usualSize.nodes };
  const world = await startHealthyWorld({ ...size, careObjects: true }, directory);
  try {
    const { figures, probes, output } = await measureHealthy(target, {
      component: 'care',
      config: `kubeConfigSecretName: ${kubeconfigSecretName}\nsyncPeriod: ${String(periodMs)}ms\n`,
      ...{ clock: options.clock, world, size, directory, warmUps, warmUpLimitMs },
      measureMs: measuredPeriods * periodMs,
    });
    return { ...figures, periodMs, runs: probes, notTrue: countNotTrue(output) };
  } finally {
    await world.end();
  }
};

const costColumns: readonly Column<CareResult>[] = [
  ['program', (row) => row.target],
  ['shoots x nodes', sizeOf],
  ['period', (row) => `${String(row.periodMs / 1_000)} s`],
  ['runs', (row) => row.runs],
  ['CPU', (row) => inPercent(row.cpuSeconds, row)],
  ['CPU ms a run', (row) => ((1_000 * row.cpuSeconds) / row.runs).toFixed(2)],
  ['peak MB', (row) => inMegabytes(row.peakBytes)],
  ['not True', (row) => row.notTrue],
  ['world CPU', (row) => inPercent(row.worldCpuSeconds, row)],
  ['other CPU', (row) => inPercent(row.otherCpuSeconds, row)],
];

const requestColumns: readonly Column<CareResult>[] = [
  ['program', (row) => row.target],
  ['shoots x nodes', sizeOf],
  ...trafficColumns<CareResult>('run', ({ runs }) => runs),
];

const markdownOf = (results: readonly CareResult[]): string =>
  [
    '## Care',
    '',
    tableOf(costColumns, results),
    '',
    'A run checks one shoot, and lists its leases once; kB out and in are those of a run to its shoot, TLS included. `not True`: conditions that it',
    'found otherwise from its start on, by its log, in a world where all is well. `get pods` is the port-forward through the tunnel.',
    '',
    tableOf(requestColumns, results),
  ].join('\n');

export const runCare = async (options: BenchOptions): Promise<PartResult> =>
  partResult(
    await measureEachTarget('care', options, (target, directory) => measure(target, directory, options)),
    markdownOf,
  );
