import type { Cost } from '../harness/cost.ts';
import { limits, thresholdAt } from '../harness/garden-config.ts';
import { missesOf } from '../harness/part.ts';
import { type Column, inMegabytes, inPercent, inSeconds, quantile, tableOf } from '../harness/table.ts';
import type { SeedReport } from '../worlds/seed.ts';

export const deploymentsPerShoot = 3;
/** Aim for the slowest shoot, in milliseconds. */
const aimMs = 3_000;
/** Tolerance in requests: requests that were sent one after the other can arrive together. */
const bunching = 2;

interface Quantiles {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

const spreadOf = (values: readonly number[]): Quantiles => ({
  median: quantile(values, 0.5),
  p99: quantile(values, 0.99),
  worst: quantile(values, 1),
});

interface Protection {
  /** Shoots whose Deployments were all scaled down. */
  readonly shoots: number;
  /** Time from a shoot's threshold to its first scale-down write, in milliseconds. */
  readonly first: Quantiles;
  /** Time from a shoot's threshold to its last scale-down write, which waits until the pods of the earlier ones are gone. */
  readonly last: Quantiles;
  /** Time from the first threshold of all shoots to the last, in milliseconds. */
  readonly spreadOfThresholds: number;
}

/** The leases of the report have the last renewals before the kubelets were cut off. `scale`: factor of the configured times. */
export const protectionOf = ({ leases, writes }: Pick<SeedReport, 'leases' | 'writes'>, scale: number): Protection => {
  const downs = Map.groupBy(
    writes.filter(({ to }) => to === 0),
    ({ namespace }) => namespace,
  );
  const thresholds = leases.map(({ renewals }) => thresholdAt(renewals, scale));
  const delays = leases.flatMap(({ namespace, renewals }) => {
    const times = (downs.get(namespace) ?? []).map(({ at }) => at - thresholdAt(renewals, scale));
    return times.length < deploymentsPerShoot ? [] : [{ first: Math.min(...times), last: Math.max(...times) }];
  });
  return {
    shoots: delays.length,
    first: spreadOf(delays.map(({ first }) => first)),
    last: spreadOf(delays.map(({ last }) => last)),
    spreadOfThresholds: Math.max(...thresholds) - Math.min(...thresholds),
  };
};

interface Restoration {
  readonly deployments: number;
  /** Time from the order to restore until the last scale-up write of each shoot, in milliseconds. */
  readonly last: Quantiles;
  /** Requests until the last scale-up, without watches and requests for machines: those that belong to scale-ups. */
  readonly ordinaryPerSecond: number;
  /** Maximum number of requests at any time beyond those that a token bucket with the flags' rate and burst would have allowed. */
  readonly beyondTheLimit: number;
}

/** Simulates a bucket that leaks `limits.qps` requests a second. Returns its maximum level above `limits.burst`. */
const mostBeyond = (times: readonly number[]): number => {
  let level = 0;
  let most = Number.NEGATIVE_INFINITY;
  times.forEach((at, index) => {
    level = Math.max(0, level - ((at - (times[index - 1] ?? at)) / 1_000) * limits.qps) + 1;
    most = Math.max(most, level - limits.burst);
  });
  return most;
};

/** `since`: time at which the kubelets were reconnected, in milliseconds since the epoch. */
export const restorationOf = (
  { writes, requests }: Pick<SeedReport, 'writes' | 'requests'>,
  since: number,
): Restoration => {
  const ups = writes.filter(({ from, to }) => from === 0 && to > 0);
  const lastAt = Math.max(since, ...ups.map(({ at }) => at));
  // A list of machines is urgent if its run saw an expired lease. The server cannot distinguish it from other lists of machines.
  const ordinary = requests.filter(({ verb, resource }) => verb !== 'watch' && resource !== 'machines');
  const shoots = [...Map.groupBy(ups, ({ namespace }) => namespace).values()];
  return {
    deployments: ups.length,
    last: spreadOf(shoots.map((all) => Math.max(...all.map(({ at }) => at)) - since)),
    ordinaryPerSecond: (ordinary.filter(({ at }) => at <= lastAt).length * 1_000) / (lastAt - since),
    beyondTheLimit: mostBeyond(ordinary.map(({ at }) => at)),
  };
};

/** Costs of one part of the run. */
export interface PhaseCost extends Cost<'program' | 'world'> {
  readonly part: string;
  readonly worstWorldDelayMs: number;
  /** Number of requests of the program to the seed, including watches. */
  readonly seedRequests: number;
}

export interface OutageResult {
  readonly shoots: number;
  readonly protection: Protection;
  readonly restoration: Restoration;
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
  readonly costs: readonly PhaseCost[];
}

export const failuresOf = (result: OutageResult): readonly string[] => {
  const { shoots, protection, restoration } = result;
  const { worst } = protection.last;
  const [restored, all] = [restoration.deployments, shoots * deploymentsPerShoot];
  return missesOf([
    [protection.shoots === shoots, `only ${String(protection.shoots)} of ${String(shoots)} shoots were scaled down`],
    [worst < aimMs, `the slowest shoot took ${inSeconds(worst)} s, aim ${inSeconds(aimMs)} s`],
    [result.nodesTurnedUnknown === 0, `KCM gave up ${String(result.nodesTurnedUnknown)} nodes`],
    [result.machinesReplaced === 0, `MCM replaced ${String(result.machinesReplaced)} machines`],
    [restoration.beyondTheLimit <= bunching, 'scale-ups exceeded the ordinary rate limit'],
    [restored === all, `only ${String(restored)} of ${String(all)} Deployments were restored in time`],
  ]);
};

const spreadColumns: readonly Column<readonly [what: string, spread: Quantiles]>[] = [
  ['seconds', ([what]) => what],
  ['median', ([, { median }]) => inSeconds(median)],
  ['p99', ([, { p99 }]) => inSeconds(p99)],
  ['worst', ([, { worst }]) => inSeconds(worst)],
];

const costColumns: readonly Column<PhaseCost>[] = [
  ['part', (row) => row.part],
  ['seconds', (row) => row.seconds.toFixed(0)],
  ['program CPU', (row) => inPercent(row.cpu.program, row.seconds)],
  ['peak MB', (row) => inMegabytes(row.peakBytes.program)],
  ['world CPU', (row) => inPercent(row.cpu.world, row.seconds)],
  ['other CPU', (row) => inPercent(row.otherCpuSeconds, row.seconds)],
  ['worst delay of the world (ms)', (row) => row.worstWorldDelayMs.toFixed(0)],
  ['requests to the seed', (row) => row.seedRequests],
];

/** Formats one result in Markdown. */
export const markdownOf = ({ shoots, protection, restoration, costs, ...impact }: OutageResult): string =>
  [
    `## Outage of ${String(shoots)} shoots in the same second`,
    '',
    tableOf(spreadColumns, [
      ["from a shoot's threshold to its first scale-down write", protection.first],
      ['to its last scale-down write', protection.last],
      ['from the end of the outage to its last scale-up write', restoration.last],
    ]),
    '',
    `Aim: ${inSeconds(aimMs)} s for the worst of the scale-downs. The thresholds lie within ${inSeconds(protection.spreadOfThresholds)} s.`,
    `Nodes given up by KCM: ${String(impact.nodesTurnedUnknown)}; machines replaced: ${String(impact.machinesReplaced)}.`,
    `${String(restoration.deployments)} of ${String(shoots * deploymentsPerShoot)} Deployments were restored, at ${restoration.ordinaryPerSecond.toFixed(2)} ordinary requests a second, and`,
    `at most ${restoration.beyondTheLimit.toFixed(1)} beyond ${String(limits.qps)} a second after a burst of ${String(limits.burst)}.`,
    '',
    tableOf(costColumns, costs),
    '',
    'CPU in percent of one processor.',
  ].join('\n');
