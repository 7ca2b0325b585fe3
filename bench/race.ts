// The prober against a real kube-controller-manager: who is first, once the kubelets of a shoot fall silent?
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock, systemRandom } from '../src/runtime/index.ts';
import { seedRules } from '../test/envtest/shoot.ts';
import { type ControlPlane, startControlPlane } from '../test/envtest/index.ts';
import { waitFor } from '../test/envtest/waiting.ts';
import { type Arena, kubeConfigSecretName, openArena, type Run } from './race/arena.ts';
import { followReplicas } from './race/replicas.ts';
import { tellRace } from './race/tell.ts';
import { gardenConfig, probeIntervalMs } from './support/garden-config.ts';
import { count } from './support/options.ts';
import { ownTarget, type RunningTarget, startTarget, type Target } from './support/target.ts';

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
const never = new AbortController().signal;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

interface Contest {
  readonly target: Target;
  /** Whether `target` is this checkout's. */
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

const startProber = async ({ target, isOwn, kubeconfig, directory }: Contest): Promise<RunningTarget> => {
  const config = gardenConfig(kubeConfigSecretName);
  const program = startTarget(target, { component: 'prober', config, kubeconfig, directory });
  const settle = async (): Promise<void> => {
    if (isOwn) {
      await waitFor({ what: 'a verdict on every shoot', withinMs: 60_000, everyMs: 200 }, () => {
        program.check();
        return Promise.resolve(namespacesJudged(program.output()) === protectedShoots.length ? true : undefined);
      }).catch((error: unknown) => {
        program.check();
        throw new Error(`${String(error)}; its output ends with\n${program.tail()}`, { cause: error });
      });
    }
    const settledAt = clock.monotonic() + (isOwn ? settleMs : foreignSettleMs);
    while (clock.monotonic() < settledAt) {
      program.check();
      await clock.sleep(500, never);
    }
  };
  try {
    await settle();
    program.check();
    return program;
  } catch (error) {
    await program.stop();
    throw error;
  }
};

const playRound = async (round: number, arenas: readonly Arena[], contest: Contest): Promise<readonly Run[]> => {
  await Promise.all(arenas.map((arena) => arena.prepare()));
  const prober = await startProber(contest);
  try {
    const cycleMs = contest.isOwn ? ownCycleMs : foreignCycleMs;
    const race = async (arena: Arena, place: number): Promise<Run> => {
      const share = (place * contest.rounds + round + random.next()) / (arenas.length * contest.rounds);
      await clock.sleep(share * cycleMs, never);
      return arena.race();
    };
    const runs = await Promise.all(arenas.map(race));
    // What it did not do because it had ended is no result.
    prober.check();
    const isLost = runs.some(({ isProtected, unknown }) => isProtected && unknown > 0);
    if (isLost && contest.isOwn) say(prober.output());
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

const readCommandLine = (): { readonly command: string | undefined; readonly rounds: number } => {
  const { target, rounds } = parseArgs({ options: { target: { type: 'string' }, rounds: { type: 'string' } } }).values;
  return { command: target, rounds: count('rounds', rounds) ?? defaultRounds };
};

const main = async (): Promise<number> => {
  let line: ReturnType<typeof readCommandLine>;
  try {
    line = readCommandLine();
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return 2;
  }
  const { command, rounds } = line;
  const target = command === undefined ? ownTarget() : { name: 'target', command };
  const directory = mkdtempSync(join(tmpdir(), 'dwd-race-'));
  const seed = await startControlPlane({ name: 'seed' });
  const arenas: Arena[] = [];
  try {
    const verdict = tellRace(await play(seed, arenas, { target, isOwn: command === undefined, directory, rounds }));
    process.stdout.write(`${verdict.text}\n`);
    return verdict.exitCode;
  } finally {
    await Promise.all(arenas.map((arena) => arena.stop()));
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

process.exitCode = await main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  return 1;
});
