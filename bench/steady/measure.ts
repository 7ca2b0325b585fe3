import type { Clock } from '../../src/ports/index.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { cpuSecondsOf, cpuSecondsOfAll, usageOf } from '../support/cpu.ts';
import { gardenConfig } from '../support/garden-config.ts';
import type { Figures } from '../support/figures.ts';
import { startTarget, type Target } from '../support/target.ts';
import { type Traffic, trafficSince } from '../support/traffic.ts';
import { kubeconfigSecretName } from '../../src/sim/index.ts';
import { probeKind } from './protocol.ts';
import type { Size, SteadyWorld } from './world.ts';

export interface Pace {
  readonly intervalMs: number;
  /** Probes of every shoot before the measurement. */
  readonly warmUps: number;
  /** How many of the longest intervals are measured. */
  readonly intervals: number;
}

/** One program in the healthy steady state of one size, by what can be seen from outside. */
export interface SteadyResult extends Size, Figures {
  readonly intervalMs: number;
  /** Lists of leases. */
  readonly probes: number;
  readonly floor: { readonly cpuSeconds: number; readonly probes: number; readonly peakBytes: number };
  readonly otherCpuSeconds: number;
}

/** An interval with the most jitter. */
const longest = 1.2;
/** Programs may wait for their `initialDelay` first, and look at shoots one after the other. */
const warmUpLimitMs = 180_000;

interface Snapshot {
  readonly at: number;
  readonly target: ReturnType<typeof usageOf>;
  readonly floor: ReturnType<typeof usageOf>;
  readonly worldCpu: number;
  readonly allCpu: number;
  readonly counts: Awaited<ReturnType<SteadyWorld['counts']>>;
}

const probesOf = ({ kinds }: Traffic): number => kinds[probeKind]?.requests ?? 0;

export interface SteadyDeps {
  readonly clock: Clock;
  readonly world: SteadyWorld;
  readonly size: Size;
  readonly pace: Pace;
  readonly directory: string;
}

/** Runs the target and the floor side by side against the world until they are warm, and measures them. */
export const measureSteady = async (target: Target, deps: SteadyDeps): Promise<SteadyResult> => {
  const { clock, world, size, pace, directory } = deps;
  const { intervalMs, warmUps, intervals } = pace;
  const floor = world.startFloor(intervalMs);
  const config = gardenConfig(kubeconfigSecretName, { probeIntervalMs: intervalMs, initialDelayMs: 1_000 });
  const program = startTarget(target, { component: 'prober', config, kubeconfig: world.kubeconfig, directory });

  const look = async (): Promise<Snapshot> => ({
    at: clock.monotonic(),
    target: usageOf(program.pid),
    floor: usageOf(floor.pid),
    worldCpu: world.pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    allCpu: cpuSecondsOfAll(),
    counts: await world.counts(),
  });

  try {
    const everyMs = 500;
    await waitFor({ what: `${target.name} to probe every shoot`, withinMs: warmUpLimitMs, everyMs }, async () => {
      program.check();
      return (await world.counts()).fewestProbes >= warmUps ? true : undefined;
    }).catch((error: unknown) => {
      program.check();
      throw new Error(`${String(error)}; its output ends with\n${program.tail()}`, { cause: error });
    });
    const start = await look();
    await clock.sleep(intervals * longest * intervalMs, new AbortController().signal);
    program.check();
    return { target: target.name, ...size, intervalMs, ...resultOf(start, await look()) };
  } finally {
    await program.stop();
    await floor.end();
  }
};

const resultOf = (start: Snapshot, end: Snapshot): Omit<SteadyResult, keyof Size | 'target' | 'intervalMs'> => {
  const shoots = trafficSince(start.counts.shoots, end.counts.shoots);
  const floor = trafficSince(start.counts.floor, end.counts.floor);
  const cpuSeconds = end.target.cpuSeconds - start.target.cpuSeconds;
  const floorCpuSeconds = end.floor.cpuSeconds - start.floor.cpuSeconds;
  const worldCpuSeconds = end.worldCpu - start.worldCpu;
  return {
    seconds: (end.at - start.at) / 1_000,
    cpuSeconds,
    peakBytes: end.target.peakBytes,
    probes: probesOf(shoots),
    connections: shoots.connections,
    resumed: shoots.resumed,
    bytesOut: shoots.bytesIn,
    bytesIn: shoots.bytesOut,
    shootKinds: shoots.kinds,
    seedKinds: trafficSince(start.counts.seed, end.counts.seed).kinds,
    floor: { cpuSeconds: floorCpuSeconds, probes: probesOf(floor), peakBytes: end.floor.peakBytes },
    worldCpuSeconds,
    otherCpuSeconds: end.allCpu - start.allCpu - cpuSeconds - floorCpuSeconds - worldCpuSeconds,
  };
};
