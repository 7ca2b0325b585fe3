// Measures a program in a healthy seed from outside, after a warm-up: the steady state of the prober, and care.
import type { Clock } from '../../src/ports/clock.ts';
import { startCost } from './cost.ts';
import type { HealthyWorld } from './healthy-world.ts';
import { type Size, never } from './part.ts';
import { type Column, inKilobytes } from './table.ts';
import { type ProcessStart, type Target, startTarget, waitForTarget } from './target.ts';
import { type Kinds, type ServerTraffic, probeKind, trafficSince } from './traffic.ts';

/** Costs of a program during the measurement. */
export interface Figures extends Size {
  readonly target: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly connections: number;
  readonly resumed: number;
  /** Bytes over TCP to the shoots; `bytesIn`: from the shoots. */
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly shootKinds: Kinds;
  readonly seedKinds: Kinds;
  readonly worldCpuSeconds: number;
  /** CPU seconds of everything else on the machine. */
  readonly otherCpuSeconds: number;
}

export interface Floor {
  readonly cpuSeconds: number;
  readonly probes: number;
  readonly peakBytes: number;
}

export interface HealthyRun extends Omit<ProcessStart, 'kubeconfig'> {
  readonly clock: Clock;
  readonly world: HealthyWorld;
  readonly size: Size;
  /** Number of probes, or checks, of every shoot before the measurement starts. */
  readonly warmUps: number;
  readonly warmUpLimitMs: number;
  readonly measureMs: number;
  /** Interval at which a bare loop beside the program probes. Without it, no bare loop runs. */
  readonly floorIntervalMs?: number;
}

interface Measured {
  readonly figures: Figures;
  /** Number of requests that list leases. */
  readonly probes: number;
  readonly floor: Floor;
  /** Complete output of the program. */
  readonly output: string;
}

const probesOf = ({ kinds }: ServerTraffic): number => kinds[probeKind]?.requests ?? 0;

export const measureHealthy = async (target: Target, run: HealthyRun): Promise<Measured> => {
  const { clock, world, size } = run;
  const bareLoop = run.floorIntervalMs === undefined ? undefined : world.startFloor(run.floorIntervalMs);
  const program = startTarget(target, { ...run, kubeconfig: world.kubeconfig });
  try {
    const what = `${target.name} to see every shoot`;
    await waitForTarget(
      program,
      { what, withinMs: run.warmUpLimitMs },
      async () => (await world.counts()).fewestProbes >= run.warmUps,
    );
    const pids = { program: [program.pid], floor: bareLoop === undefined ? [] : [bareLoop.pid], world: world.pids };
    const endCost = startCost(clock, pids);
    const before = await world.counts();
    await clock.sleep(run.measureMs, never);
    program.check();
    const { seconds, cpu, peakBytes, otherCpuSeconds } = endCost();
    const after = await world.counts();
    const shoots = trafficSince(before.shoots, after.shoots);
    const figures = {
      target: target.name,
      ...size,
      seconds,
      cpuSeconds: cpu.program,
      peakBytes: peakBytes.program,
      connections: shoots.connections,
      resumed: shoots.resumed,
      bytesOut: shoots.bytesIn,
      bytesIn: shoots.bytesOut,
      shootKinds: shoots.kinds,
      seedKinds: trafficSince(before.seed, after.seed).kinds,
      worldCpuSeconds: cpu.world,
      otherCpuSeconds,
    };
    const floorProbes = probesOf(trafficSince(before.floor, after.floor));
    const floor = { cpuSeconds: cpu.floor, probes: floorProbes, peakBytes: peakBytes.floor };
    return { figures, probes: probesOf(shoots), floor, output: program.output() };
  } finally {
    await program.stop();
    await bareLoop?.end();
  }
};

export const inPercent = (cpuSeconds: number, { seconds }: Pick<Figures, 'seconds'>): string =>
  `${((100 * cpuSeconds) / seconds).toFixed(1)} %`;

export const sizeOf = ({ shoots, nodes }: Size): string => `${String(shoots)} x ${String(nodes)}`;

/** Formats the kinds of requests, the most frequent first, with their number per run and the size of a response. */
const kindsPerRun = (kinds: Kinds, runs: number): string =>
  Object.entries(kinds)
    .filter(([, { requests }]) => requests > 0)
    .sort(([, a], [, b]) => b.requests - a.requests)
    .map(
      ([kind, { requests, bytes }]) => `${(requests / runs).toFixed(2)} ${kind} (${inKilobytes(bytes / requests)} kB)`,
    )
    .join(', ') || 'none';

/** `run`: name of the work for which a program lists leases once, such as a probe. */
export const trafficColumns = <F extends Figures>(run: string, runsOf: (row: F) => number): readonly Column<F>[] => [
  [`connections a ${run}`, (row) => (row.connections / runsOf(row)).toFixed(2)],
  ['resumed', (row) => (row.connections === 0 ? '-' : `${((100 * row.resumed) / row.connections).toFixed(0)} %`)],
  ['kB out', (row) => inKilobytes(row.bytesOut / runsOf(row))],
  ['kB in', (row) => inKilobytes(row.bytesIn / runsOf(row))],
  [`requests to the shoot a ${run} (answer)`, (row) => kindsPerRun(row.shootKinds, runsOf(row))],
  [`requests to the seed a ${run} (answer)`, (row) => kindsPerRun(row.seedKinds, runsOf(row))],
];
