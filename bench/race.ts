// The prober against a real kube-controller-manager: who is first, once the kubelets of a shoot fall silent?
import { readFileSync } from 'node:fs';
import { systemClock } from '../src/process/clock.ts';
import { systemRandom } from '../src/process/random.ts';
import { type ControlPlane, startControlPlane } from '../test/envtest/control-plane.ts';
import { seedRules } from '../test/envtest/shoot.ts';
import { count, readFlags, runCommand, say, write } from './harness/command.ts';
import { gardenConfig, probeIntervalMs } from './harness/garden-config.ts';
import { inScratch, never } from './harness/part.ts';
import { type RunningTarget, type Target, ownTarget, startTarget, waitForTarget } from './harness/target.ts';
import { raceResult } from './parts/race-figures.ts';
import { type Arena, type Run, kubeConfigSecretName, openArena } from './worlds/arena.ts';
import { followReplicas } from './worlds/replicas.ts';

const defaultRounds = 4;
const protectedShoots = ['a', 'b', 'c', 'd', 'e'];
const unprotectedShoots = ['alone'];
/** The longest time from one probe of a shoot to the next. */
const longestIntervalMs = 1.2 * probeIntervalMs;
/** After the first verdicts: a second probe of every shoot, and several renewals of every lease. */
const settleMs = longestIntervalMs;
/** Of a program whose log is not known: its initial delay, and a run with all the delays of a scale-up. */
const foreignSettleMs = 90_000;
/**
 * The outages begin evenly spread over a whole cycle of the program. That of a program whose log is not known may hold, as the Go program's does
 * after each healthy probe, the delay of machine-controller-manager's scale-up.
 */
const [ownCycleMs, foreignCycleMs] = [longestIntervalMs, longestIntervalMs + 30_000];

const clock = systemClock();
const random = systemRandom();

interface Contest {
  readonly target: Target;
  /** True if `target` is this checkout's. */
  readonly isOwn: boolean;
  readonly kubeconfig: string;
  readonly directory: string;
  readonly rounds: number;
}

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

const settle = async (program: RunningTarget, isOwn: boolean): Promise<void> => {
  if (isOwn) {
    await waitForTarget(program, { what: 'a verdict on every shoot', withinMs: 60_000, everyMs: 200 }, () =>
      Promise.resolve(namespacesJudged(program.output()) === protectedShoots.length ? true : undefined),
    );
  }
  const settledAt = clock.monotonic() + (isOwn ? settleMs : foreignSettleMs);
  while (clock.monotonic() < settledAt) {
    program.check();
    await clock.sleep(500, never);
  }
  program.check();
};

const playRound = async (round: number, arenas: readonly Arena[], contest: Contest): Promise<readonly Run[]> => {
  const { target, isOwn, rounds } = contest;
  await Promise.all(arenas.map((arena) => arena.prepare()));
  const prober = startTarget(target, { ...contest, component: 'prober', config: gardenConfig(kubeConfigSecretName) });
  try {
    await settle(prober, isOwn);
    const race = async (arena: Arena, place: number): Promise<Run> => {
      const share = (place * rounds + round + random.next()) / (arenas.length * rounds);
      await clock.sleep(share * (isOwn ? ownCycleMs : foreignCycleMs), never);
      return arena.race();
    };
    const runs = await Promise.all(arenas.map(race));
    // What it did not do because it had ended is no result.
    prober.check();
    const isLost = runs.some(({ isProtected, unknown }) => isProtected && unknown > 0);
    if (isLost && isOwn) say(prober.output());
    return runs;
  } finally {
    await prober.stop();
  }
};

const play = async (
  seed: ControlPlane,
  arenas: Arena[],
  given: Omit<Contest, 'kubeconfig'>,
): Promise<readonly Run[]> => {
  const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: seedRules });
  const contest = { ...given, kubeconfig: readFileSync(file, 'utf8') };
  const kcm = followReplicas(seed.client, 'kube-controller-manager', clock);
  try {
    for (const name of [...protectedShoots, ...unprotectedShoots]) {
      const isProtected = protectedShoots.includes(name);
      arenas.push(await openArena({ seed, name, isProtected, clock, random, replicas: kcm.replicas }));
      say(`shoot ${name} is up`);
    }
    const runs: Run[] = [];
    for (let round = 0; round < contest.rounds; round += 1) {
      say(`round ${String(round + 1)} of ${String(contest.rounds)}`);
      runs.push(...(await playRound(round, arenas, contest)));
    }
    return runs;
  } finally {
    await kcm.stop();
  }
};

const usage = `usage: node bench/race.ts [--target "CMD"] [--rounds N]

  --target "CMD"   another program that takes the prober's flags (default: bin/dwd)
  --rounds N       outages of each of the ${String(protectedShoots.length)} protected shoots (default: ${String(defaultRounds)})`;

interface CommandLine {
  readonly target: Target;
  readonly isOwn: boolean;
  readonly rounds: number;
}

const readCommandLine = (): CommandLine => {
  const { target: command, rounds } = readFlags(['target', 'rounds']);
  const target = command === undefined ? ownTarget() : { name: 'target', command };
  return { target, isOwn: command === undefined, rounds: count('rounds', rounds) ?? defaultRounds };
};

const main = (line: CommandLine): Promise<number> =>
  inScratch(async (directory) => {
    const seed = await startControlPlane({ name: 'seed' });
    const arenas: Arena[] = [];
    try {
      const { text, exitCode } = raceResult(await play(seed, arenas, { ...line, directory }));
      write(text);
      return exitCode;
    } finally {
      await Promise.all(arenas.map((arena) => arena.stop()));
      await seed.stop();
    }
  });

await runCommand(usage, readCommandLine, main);
