import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { gardenConfig, graceMs, probeIntervalMs } from '../harness/garden-config.ts';
import { type ReplicaPair, startPair } from '../harness/replica-pair.ts';
import { type Target, startTarget } from '../harness/target.ts';
import { externalSecretName, kubeConfigSecretName } from '../worlds/arena-shoot.ts';
import type { Arena, Restoration, OutageRun } from '../worlds/arena.ts';
import { type Kind, type KindName, conditionsOf } from './race-kinds.ts';

/** Longest time between two probes of a shoot. */
const longestIntervalMs = 1.2 * probeIntervalMs;
/** Wait after the first verdicts: long enough for a second probe of every shoot and several renewals of every lease. */
const settleMs = longestIntervalMs;
/** Wait for a program whose log is not known: its initial delay, and a run with all delays of a scale-up. */
const foreignSettleMs = 90_000;
/**
 * Length of the program's cycle, over which the starts of the outages are spread evenly. The cycle of a program whose log is not known may include
 * the delay of machine-controller-manager's scale-up, as the Go program's cycle does after each healthy probe.
 */
const [ownCycleMs, foreignCycleMs] = [longestIntervalMs, longestIntervalMs + 30_000];
/** Start and end of the time around a shoot's threshold over which the faults of the leader are spread evenly. */
const [faultFromMs, faultToMs] = [-30_000, 5_000];
/** Average time from the cut to the threshold: 0.6 of the leases expire 30 s after their last renewals, which are at most 10 s before the cut. */
const cutToThresholdMs = 26_000;
const lateMs = 60_000;
/** Allows for the landing of a minute and the delay of half a minute before machine-controller-manager is scaled up. */
const restorationLimitMs = 240_000;

export interface RaceSettings {
  readonly target: Target;
  /** True if `target` is the program of this checkout. */
  readonly isOwn: boolean;
  readonly seed: ControlPlane;
  /** Text of the kubeconfig for a single replica. */
  readonly kubeconfig: string;
  readonly directory: string;
  readonly rounds: number;
  readonly arenas: readonly Arena[];
  readonly control?: Arena;
  /** Factor of all times. */
  readonly scale: number;
  /** Returns a number between 0 and 1. */
  readonly random: () => number;
}

/** One outage of one shoot. */
export interface RacedOutage extends OutageRun {
  readonly kind: KindName;
  /** Time of the leader's fault, in milliseconds since the epoch. */
  readonly faultAt?: number;
  /** Time from the return of the first kubelet until no resource was held; empty if that took too long. Absent if no kubelet returned. */
  readonly restoration?: Pick<Restoration, 'restoredAfterMs'>;
}

export interface Round {
  readonly outages: readonly RacedOutage[];
  /** Output of the program. */
  readonly output: string;
}

/** The program of the round: one process, or two replicas. */
type Program = Pick<ReplicaPair, 'output' | 'check' | 'stop'> & { readonly pair?: ReplicaPair };

const startProgram = async (kind: Kind, round: number, settings: RaceSettings): Promise<Program> => {
  const { target, kubeconfig, seed, scale } = settings;
  const directory = join(settings.directory, `${kind.name}-${String(round)}`);
  mkdirSync(directory);
  const external = kind.hasExternalProbe === true ? externalSecretName : undefined;
  const config = gardenConfig(kubeConfigSecretName, { scale, externalSecretName: external });
  if (kind.leaderFault === undefined) {
    return startTarget(target, { component: 'prober', config, kubeconfig, directory });
  }
  const pair = await startPair({ target, config, seed, directory, scale });
  return { ...pair, pair };
};

const namespacesJudged = (output: string): number => {
  const verdicts = output.split('\n').flatMap((line) => {
    try {
      const { msg, namespace } = JSON.parse(line) as { readonly msg?: string; readonly namespace?: string };
      return msg === 'verdict' ? [namespace] : [];
    } catch {
      return [];
    }
  });
  return new Set(verdicts).size;
};

const settle = async (program: Program, { isOwn, arenas, scale }: RaceSettings): Promise<void> => {
  if (isOwn) {
    await waitFor(
      { what: 'a verdict on every shoot', withinMs: 60_000, everyMs: 500, detail: () => program.output() },
      () => {
        program.check();
        return namespacesJudged(program.output()) === arenas.length;
      },
    );
  }
  const settledAt = performance.now() + (isOwn ? settleMs : foreignSettleMs) * scale;
  while (performance.now() < settledAt) {
    program.check();
    await sleep(500);
  }
  program.check();
};

/** Parts of the settings that determine the schedule of a round. Only the number of `arenas` matters. */
type Pacing = Pick<RaceSettings, 'isOwn' | 'rounds' | 'scale' | 'random'> & { readonly arenas: readonly unknown[] };

/** Returns a number between 0 and 1 for each arena. The numbers of all rounds together are spread evenly. */
const spread = (round: number, { arenas, rounds, random }: Pacing): readonly number[] =>
  arenas.map((_, place) => (place * rounds + round + random()) / (arenas.length * rounds));

export interface Schedule {
  /** Time until the cut of each arena. */
  readonly cutsAfterMs: readonly number[];
  readonly faultAfterMs: number;
}

/** Times of the cuts and of the leader's fault. All shoots have the same leader, so its fault comes at another distance from each threshold. */
export const scheduleOf = (kind: Kind, round: number, settings: Pacing): Schedule => {
  const { isOwn, random, scale } = settings;
  const cycleMs = isOwn ? ownCycleMs : foreignCycleMs;
  const shares = spread(round, settings);
  if (kind.leaderFault === undefined) {
    return { cutsAfterMs: shares.map((share) => share * cycleMs * scale), faultAfterMs: 0 };
  }
  const window = faultToMs - faultFromMs;
  const firstFaultMs = cutToThresholdMs + faultToMs;
  const faultAfterMs = firstFaultMs + random() * Math.max(0, cycleMs - window);
  const cuts = shares.map((share) => faultAfterMs - (faultFromMs + share * window) - cutToThresholdMs);
  return { cutsAfterMs: cuts.map((ms) => ms * scale), faultAfterMs: faultAfterMs * scale };
};

const raceAll = async (
  kind: Kind,
  round: number,
  program: Program,
  settings: RaceSettings,
): Promise<readonly RacedOutage[]> => {
  const { arenas, control } = settings;
  const { cutsAfterMs, faultAfterMs } = scheduleOf(kind, round, settings);
  const race = async (arena: Arena, afterMs: number): Promise<OutageRun> => {
    await sleep(afterMs);
    return arena.race();
  };
  const injectFault = async (): Promise<{ readonly faultAt?: number }> => {
    if (kind.leaderFault === undefined || program.pair === undefined) return {};
    await sleep(faultAfterMs);
    await program.pair.injectFault(kind.leaderFault);
    return { faultAt: Date.now() };
  };
  const [fault, runs] = await Promise.all([
    injectFault(),
    Promise.all([
      ...arenas.map((arena, place) => race(arena, cutsAfterMs[place] ?? 0)),
      ...(control !== undefined && kind.hasControl === true ? [race(control, 0)] : []),
    ]),
  ]);
  return runs.map((run) => ({ ...run, ...fault, kind: kind.name }));
};

/** Ends the fault of the replica after all races, and reconnects the kubelets. */
const reconnectAll = async (
  kind: Kind,
  outages: readonly RacedOutage[],
  program: Program,
  { arenas, scale }: RaceSettings,
): Promise<readonly RacedOutage[]> => {
  await program.pair?.heal();
  if (kind.kubeletsReturn === undefined) return outages;
  const isLate = kind.kubeletsReturn === 'half late';
  const options = { lateMs: isLate ? lateMs * scale : 0, untilKcmHasJudged: isLate };
  const restorations = await Promise.all(
    arenas.map((arena) => arena.reconnect({ ...options, withinMs: restorationLimitMs * scale + graceMs })),
  );
  return outages.map((outage) => {
    const restoration = restorations[arenas.findIndex(({ name }) => name === outage.shoot)];
    if (restoration === undefined) return outage;
    const { restoredAfterMs, ...seen } = restoration;
    return { ...outage, ...seen, restoration: restoredAfterMs === undefined ? {} : { restoredAfterMs } };
  });
};

/** Plays one outage of each shoot with a newly started program. */
export const playRound = async (kind: Kind, round: number, settings: RaceSettings): Promise<Round> => {
  const { arenas, control } = settings;
  const all = [...arenas, ...(control !== undefined && kind.hasControl === true ? [control] : [])];
  await Promise.all(all.map((arena, place) => arena.prepare(conditionsOf(kind, place + round * all.length))));
  const program = await startProgram(kind, round, settings);
  try {
    await settle(program, settings);
    const outages = await reconnectAll(kind, await raceAll(kind, round, program, settings), program, settings);
    // The outcome of a program that has ended is not a result.
    program.check();
    return { outages, output: program.output() };
  } finally {
    await program.stop();
  }
};
