import type { Clock } from '../../src/ports/index.ts';
import { kubeconfigSecretName } from '../../src/sim/index.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { probeKind } from '../steady/protocol.ts';
import type { Size, SteadyWorld } from '../steady/world.ts';
import { cpuSecondsOf, cpuSecondsOfAll, usageOf } from '../support/cpu.ts';
import type { Figures } from '../support/figures.ts';
import { startTarget, type Target } from '../support/target.ts';
import { trafficSince } from '../support/traffic.ts';

export interface Pace {
  readonly periodMs: number;
  /** Runs for every shoot before the measurement. */
  readonly warmUps: number;
  /** How many periods are measured. */
  readonly periods: number;
}

/** `dwd care`, or another program of its flags, with shoots that are well and no garden, by what can be seen from outside. */
export interface CareResult extends Size, Figures {
  readonly periodMs: number;
  /** Checks of one shoot: lists of its leases. */
  readonly runs: number;
  /** Conditions that it found other than True, by its log, from its start on. In this world each is a mistake. */
  readonly notTrue: number;
  readonly otherCpuSeconds: number;
}

export interface CareDeps {
  readonly clock: Clock;
  readonly world: SteadyWorld;
  readonly size: Size;
  readonly pace: Pace;
  readonly directory: string;
}

interface Snapshot {
  readonly at: number;
  readonly target: ReturnType<typeof usageOf>;
  readonly worldCpu: number;
  readonly allCpu: number;
  readonly counts: Awaited<ReturnType<SteadyWorld['counts']>>;
}

const warmUpLimitMs = 600_000;

const configOf = ({ periodMs }: Pace): string =>
  `kubeConfigSecretName: ${kubeconfigSecretName}\nsyncPeriod: ${String(periodMs)}ms\n`;

const notTrueIn = (output: string): number =>
  output.split('\n').filter((line) => line.includes('"msg":"condition changed"') && !line.includes('"status":"True"'))
    .length;

/** Runs the target against the world until it is warm, and measures it. */
export const measureCare = async (target: Target, deps: CareDeps): Promise<CareResult> => {
  const { clock, world, size, pace, directory } = deps;
  const config = configOf(pace);
  const program = startTarget(target, { component: 'care', config, kubeconfig: world.kubeconfig, directory });

  const look = async (): Promise<Snapshot> => ({
    at: clock.monotonic(),
    target: usageOf(program.pid),
    worldCpu: world.pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    allCpu: cpuSecondsOfAll(),
    counts: await world.counts(),
  });

  try {
    const what = `${target.name} to check every shoot`;
    await waitFor({ what, withinMs: warmUpLimitMs, everyMs: 500 }, async () => {
      program.check();
      return (await world.counts()).fewestProbes >= pace.warmUps ? true : undefined;
    }).catch((error: unknown) => {
      program.check();
      throw new Error(`${String(error)}; its output ends with\n${program.tail()}`, { cause: error });
    });
    const start = await look();
    await clock.sleep(pace.periods * pace.periodMs, new AbortController().signal);
    program.check();
    const end = await look();
    const notTrue = notTrueIn(program.output());
    return { target: target.name, ...size, periodMs: pace.periodMs, notTrue, ...resultOf(start, end) };
  } finally {
    await program.stop();
  }
};

const resultOf = (start: Snapshot, end: Snapshot): Omit<CareResult, keyof Size | 'target' | 'periodMs' | 'notTrue'> => {
  const shoots = trafficSince(start.counts.shoots, end.counts.shoots);
  const cpuSeconds = end.target.cpuSeconds - start.target.cpuSeconds;
  const worldCpuSeconds = end.worldCpu - start.worldCpu;
  return {
    seconds: (end.at - start.at) / 1_000,
    cpuSeconds,
    peakBytes: end.target.peakBytes,
    runs: shoots.kinds[probeKind]?.requests ?? 0,
    connections: shoots.connections,
    resumed: shoots.resumed,
    bytesOut: shoots.bytesIn,
    bytesIn: shoots.bytesOut,
    shootKinds: shoots.kinds,
    seedKinds: trafficSince(start.counts.seed, end.counts.seed).kinds,
    worldCpuSeconds,
    otherCpuSeconds: end.allCpu - start.allCpu - cpuSeconds - worldCpuSeconds,
  };
};
