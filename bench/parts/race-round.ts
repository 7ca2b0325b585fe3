import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { gardenConfig, longestIntervalMs } from '../harness/garden-config.ts';
import { type ReplicaPair, startPair } from '../harness/replica-pair.ts';
import { type Target, startTarget } from '../harness/target.ts';
import { externalSecretName, kubeConfigSecretName } from '../worlds/arena-shoot.ts';
import type { Arena, OutageRun } from '../worlds/arena.ts';
import { type Kind, type KindName, kinds } from './race-kinds.ts';

/**
 * Length of the program's cycle, over which the starts of the outages are spread evenly, and before which none starts. It includes the delay of
 * machine-controller-manager's scale-up, for which the Go program waits after each healthy probe.
 */
export const cycleMs = longestIntervalMs + 30_000;
/** Start and end of the time around a shoot's threshold over which the faults of the leader are spread evenly. */
const [faultFromMs, faultToMs] = [-30_000, 5_000];
/** Average time from the cut to the threshold: 0.6 of the leases expire 30 s after their last renewals, which are at most 10 s before the cut. */
const cutToThresholdMs = 26_000;

export interface RaceSettings {
  readonly target: Target;
  readonly seed: ControlPlane;
  /** Text of the kubeconfig for a single replica. */
  readonly kubeconfig: string;
  readonly directory: string;
  readonly rounds: number;
  /** Shoots that the program protects. */
  readonly arenas: readonly Arena[];
  readonly control?: Arena;
  /** Factor of all times. */
  readonly scale: number;
}

/** One outage of one shoot. */
export interface RacedOutage extends OutageRun {
  readonly kind: KindName;
  /** Time of the leader's fault, in milliseconds since the epoch. */
  readonly faultAt?: number;
  /** Time from the return of the first kubelet until no resource was held; `never` if that took too long. Absent if no kubelet returned. */
  readonly restoredAfterMs?: number | 'never';
}

export interface Round {
  readonly outages: readonly RacedOutage[];
  /** Output of the program. */
  readonly output: string;
}

/** The program of the round: one process, or two replicas. */
type Program = Pick<ReplicaPair, 'output' | 'check' | 'stop'> & Partial<Pick<ReplicaPair, 'injectFault'>>;

const startProgram = async (name: KindName, round: number, settings: RaceSettings): Promise<Program> => {
  const { target, kubeconfig, seed, scale } = settings;
  const { hasExternalProbe, leaderFault } = kinds[name];
  const directory = join(settings.directory, `${name}-${String(round)}`);
  mkdirSync(directory);
  const external = hasExternalProbe === true ? externalSecretName : undefined;
  const config = gardenConfig(kubeConfigSecretName, { scale, externalSecretName: external });
  if (leaderFault !== undefined) return startPair({ target, config, seed, directory, scale });
  return startTarget(target, { component: 'prober', config, kubeconfig, directory });
};

const settle = async (program: Program, { scale }: RaceSettings): Promise<void> => {
  const settledAt = performance.now() + cycleMs * scale;
  while (performance.now() < settledAt) {
    program.check();
    await sleep(500);
  }
  program.check();
};

/**
 * Returns the milliseconds until the cut of each of `count` shoots, and until the leader's fault. Those of all rounds together are spread evenly. All shoots have
 * the same leader, so its fault comes at another distance from each threshold.
 */
export const scheduleOf = (
  { leaderFault }: Kind,
  [round, rounds]: readonly [round: number, rounds: number],
  count: number,
) => {
  const shares = Array.from(
    { length: count },
    (_, place) => (place * rounds + round + Math.random()) / (count * rounds),
  );
  if (leaderFault === undefined) return { cutsAfterMs: shares.map((share) => share * cycleMs), faultAfterMs: 0 };
  const window = faultToMs - faultFromMs;
  const faultAfterMs = cutToThresholdMs + faultToMs + Math.random() * (cycleMs - window);
  const cutsAfterMs = shares.map((share) => faultAfterMs - (faultFromMs + share * window) - cutToThresholdMs);
  return { cutsAfterMs, faultAfterMs };
};

const raceAll = async (
  name: KindName,
  round: number,
  { injectFault }: Program,
  { arenas, control, scale, rounds }: RaceSettings,
): Promise<readonly RacedOutage[]> => {
  const { leaderFault, hasControl } = kinds[name];
  const { cutsAfterMs, faultAfterMs } = scheduleOf(kinds[name], [round, rounds], arenas.length);
  const race = async (arena: Arena, afterMs: number): Promise<OutageRun> => {
    await sleep(afterMs * scale);
    return arena.race();
  };
  const strike = async (): Promise<number | undefined> => {
    if (leaderFault === undefined) return undefined;
    await sleep(faultAfterMs * scale);
    await injectFault?.(leaderFault);
    return Date.now();
  };
  const [faultAt, runs] = await Promise.all([
    strike(),
    Promise.all([
      ...arenas.map((arena, place) => race(arena, cutsAfterMs[place] ?? 0)),
      ...(control !== undefined && hasControl === true ? [race(control, 0)] : []),
    ]),
  ]);
  return runs.map((run) => ({ ...run, faultAt, kind: name }));
};

/** Reconnects the kubelets: the program, of two replicas the other one, must restore all. */
const reconnectAll = (
  outages: readonly RacedOutage[],
  { kubeletsReturn }: Kind,
  { arenas }: RaceSettings,
): Promise<readonly RacedOutage[]> =>
  Promise.all(
    outages.map(async (outage) => {
      const arena = arenas.find(({ name }) => name === outage.shoot);
      if (kubeletsReturn === undefined || arena === undefined) return outage;
      const { restoredAfterMs = 'never', unknown } = await arena.reconnect(kubeletsReturn === 'half late');
      return { ...outage, unknown, restoredAfterMs };
    }),
  );

/** Plays one outage of each shoot with a newly started program. */
export const playRound = async (name: KindName, round: number, settings: RaceSettings): Promise<Round> => {
  const { arenas, control } = settings;
  const { answersFail = false, areClocksWrong = false, hasExternalProbe = false, hasControl = false } = kinds[name];
  const all = [...arenas, ...(control !== undefined && hasControl ? [control] : [])];
  // In every other outage.
  const breaks = (place: number): boolean => hasExternalProbe && (place + round * all.length) % 2 === 1;
  await Promise.all(
    all.map((arena, place) => arena.prepare({ answersFail, areClocksWrong, addressBreaks: breaks(place) })),
  );
  const program = await startProgram(name, round, settings);
  try {
    await settle(program, settings);
    const outages = await reconnectAll(await raceAll(name, round, program, settings), kinds[name], settings);
    // The outcome of a program that has ended is not a result.
    program.check();
    return { outages, output: program.output() };
  } finally {
    await program.stop();
  }
};
