// Measures how long an operator waits for commands, and how much it costs the prober to serve its status.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { freePorts } from '../../test/envtest/processes.ts';
import { gardenConfig } from '../harness/garden-config.ts';
import { type HealthyWorld, startHealthyWorld } from '../harness/healthy-world.ts';
import { sizeOf } from '../harness/healthy.ts';
import {
  type BenchOptions,
  type PartResult,
  type Size,
  measureEachTarget,
  never,
  partResult,
} from '../harness/part.ts';
import { type Column, inMegabytes, inSeconds, quantile, tableOf } from '../harness/table.ts';
import { type Target, startTarget, waitForTarget } from '../harness/target.ts';
import { bytesOfDecisions } from './operate-decisions.ts';

interface OperateResult extends Size {
  readonly target: string;
  /** Milliseconds of each run. `startMs` is the time of a command that sends no request, which is the cost of starting the program. */
  readonly startMs: readonly number[];
  readonly leaderMs: readonly number[];
  readonly objectsMs: readonly number[];
  readonly preflightMs: readonly number[];
  readonly statusBytes: number;
  readonly metricsBytes: number;
  /** Longest stall of the event loop within a second without requests; `servingStallMs`: within a second of continuous `GET /status`. */
  readonly quietStallMs: number;
  readonly servingStallMs: number;
  /** Heap size of 50 decisions on each shoot. */
  readonly decisionBytes: number;
}

const usual: Size = { shoots: 1_000, nodes: 5 };
const quickly: Size = { shoots: 5, nodes: 2 };
const warmUpLimitMs = 600_000;
const usualRuns = 5;
const secondMs = 1_000;
/** Aim for the duration of dwd status, including its start. */
const aimMs = 2_000;

interface Ran {
  readonly ms: number;
  readonly text: string;
}

/** Runs a command of the target and measures its time. Ignores its exit code, which is a result and not an error. */
const runTimed = ({ command }: Target, args: readonly string[], clock: Clock): Promise<Ran> =>
  new Promise((resolve) => {
    const from = clock.monotonic();
    const script = `exec ${command} "$@"`;
    execFile('/bin/sh', ['-c', script, 'dwd', ...args], { maxBuffer: 64e6 }, (_, stdout, stderr) =>
      resolve({ ms: clock.monotonic() - from, text: stdout + stderr }),
    );
  });

/** Returns the time of each run in milliseconds. Throws if the output lacks the expected text, because then the time means nothing. */
const timesOf = async (
  target: Target,
  { args, says, runs }: { readonly args: readonly string[]; readonly says: string; readonly runs: number },
  clock: Clock,
): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const { ms, text } = await runTimed(target, args, clock);
    if (!text.replaceAll(/\s+/g, ' ').includes(says)) {
      throw new Error(`${args.join(' ')} does not say ${says}: ${text}`);
    }
    times.push(ms);
  }
  return times;
};

const get = async (url: string): Promise<string> => (await fetch(url)).text();

/** Longest stall, in milliseconds, since the previous request for metrics. */
const stallMs = async (metrics: string): Promise<number> => {
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds(?:\{.*\})? (\S+)$/m.exec(await get(metrics)) ?? [];
  return 1_000 * Number(seconds);
};

/** Longest stall, in milliseconds, within one second in which `work` is repeated. */
const stallDuring = async (metrics: string, work: () => Promise<unknown>, clock: Clock): Promise<number> => {
  await stallMs(metrics);
  const until = clock.monotonic() + secondMs;
  while (clock.monotonic() < until) await work();
  return stallMs(metrics);
};

const measure = async (target: Target, directory: string, options: BenchOptions): Promise<OperateResult> => {
  const { quick, clock } = options;
  const base = quick ? quickly : usual;
  const size = { shoots: options.shoots ?? base.shoots, nodes: options.nodes ?? base.nodes };
  const runs = quick ? 1 : usualRuns;
  const world = await startHealthyWorld(size, directory);
  try {
    return { target: target.name, ...size, ...(await measureIn(world, { target, directory, size, clock, runs })) };
  } finally {
    await world.end();
  }
};

interface Place {
  readonly target: Target;
  readonly directory: string;
  readonly size: Size;
  readonly clock: Clock;
  /** Number of runs of each command. */
  readonly runs: number;
}

interface Addresses {
  /** URLs. */
  readonly health: string;
  readonly metrics: string;
}

const measureServing = async ({ health, metrics }: Addresses, clock: Clock) => {
  const status = `${health}/status`;
  return {
    statusBytes: (await get(status)).length,
    metricsBytes: (await get(metrics)).length,
    quietStallMs: await stallDuring(metrics, () => clock.sleep(100, never), clock),
    servingStallMs: await stallDuring(metrics, () => get(status), clock),
  };
};

const measureCommands = async ({ health }: Addresses, { target, directory, size, clock, runs }: Place) => {
  const time = (says: string, ...args: readonly string[]) => timesOf(target, { args, says, runs }, clock);
  const access = `--kubeconfig=${join(directory, 'prober.kubeconfig')}`;
  const config = `--config-file=${join(directory, 'prober.yaml')}`;
  const shoots = `${String(size.shoots)} shoots`;
  // A leader on a busy machine must not count as unreachable.
  const patience = '--leader-timeout=60s';
  return {
    startMs: await time('dwd', 'version'),
    leaderMs: await time(`${shoots}, all healthy`, 'status', access, patience, `--leader-url=${health}`),
    objectsMs: await time('by its objects nothing is held or paused', 'status', access),
    preflightMs: await time(shoots, 'preflight', access, config),
  };
};

const measureIn = async (world: HealthyWorld, place: Place) => {
  const { target, directory, size, clock } = place;
  const [metrics, health] = (await freePorts(2)).map((port) => `127.0.0.1:${String(port)}`);
  const program = startTarget(target, {
    component: 'prober',
    config: gardenConfig(kubeconfigSecretName, { probeIntervalMs: 10_000, initialDelayMs: 1_000 }),
    ...{ kubeconfig: world.kubeconfig, directory },
    flags: [`--metrics-bind-addr=${String(metrics)}`, `--health-bind-addr=${String(health)}`],
  });
  try {
    const what = `${target.name} to see every shoot`;
    await waitForTarget(
      program,
      { what, withinMs: warmUpLimitMs },
      async () => (await world.counts()).fewestProbes >= 2,
    );
    const addresses = { health: `http://${String(health)}`, metrics: `http://${String(metrics)}/metrics` };
    const serving = await measureServing(addresses, clock);
    const commands = await measureCommands(addresses, place);
    return { ...serving, ...commands, decisionBytes: bytesOfDecisions(size.shoots) };
  } finally {
    await program.stop();
  }
};

const inKilobytes = (bytes: number): string => (bytes / 1e3).toFixed(0);
const worstOf = (times: readonly number[]): string =>
  `${inSeconds(quantile(times, 0.5))} / ${inSeconds(quantile(times, 1))}`;

const columns: readonly Column<OperateResult>[] = [
  ['program', (row) => row.target],
  ['shoots x nodes', sizeOf],
  ['start', (row) => worstOf(row.startMs)],
  ['status: leader', (row) => worstOf(row.leaderMs)],
  ['status: objects', (row) => worstOf(row.objectsMs)],
  ['preflight', (row) => worstOf(row.preflightMs)],
  ['/status kB', (row) => inKilobytes(row.statusBytes)],
  ['/metrics kB', (row) => inKilobytes(row.metricsBytes)],
  ['stall ms', (row) => row.quietStallMs.toFixed(0)],
  ['serving /status', (row) => row.servingStallMs.toFixed(0)],
  ['decisions MB', (row) => inMegabytes(row.decisionBytes)],
];

const markdownOf = (results: readonly OperateResult[]): string =>
  [
    '## Operate',
    '',
    tableOf(columns, results),
    '',
    `Median and worst of ${String(results[0]?.leaderMs.length ?? 0)} runs in seconds, from the start of the command to its end: dwd version, dwd status from a leader and by objects alone, dwd preflight.`,
    "The longest stall of the prober's event loop within a second, beside its probes: while nobody asks, and while /status is served without a pause.",
    'The last column is the heap that 50 decisions on each shoot take.',
  ].join('\n');

const missedBy = ({ leaderMs, objectsMs }: OperateResult): readonly string[] =>
  Object.entries({ 'from a leader': leaderMs, 'by objects': objectsMs }).flatMap(([how, times]) => {
    const worst = quantile(times, 1);
    return worst <= aimMs ? [] : [`dwd status ${how} took ${inSeconds(worst)} s, aim ${inSeconds(aimMs)} s`];
  });

/** Measures how long an operator's commands take in a seed of a thousand shoots, and how large the responses are that they read. */
export const runOperate = async (options: BenchOptions): Promise<PartResult> => {
  const run = (target: Target, directory: string) => measure(target, directory, options);
  return partResult(await measureEachTarget('operate', options, run), markdownOf, missedBy);
};
