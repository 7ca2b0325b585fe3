// The prober against a real kube-controller-manager: who is first, once the kubelets of a shoot fall silent?
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock, systemRandom } from '../src/runtime/index.ts';
import { seedRules } from '../test/e2e/support/shoot.ts';
import { type ControlPlane, startControlPlane } from '../test/envtest/index.ts';
import { waitFor } from '../test/envtest/waiting.ts';
import { type Arena, kubeConfigSecretName, openArena, type Run } from './race/arena.ts';
import { followReplicas } from './race/replicas.ts';
import { tellRace } from './race/tell.ts';
import { gardenConfig } from './support/garden-config.ts';
import { ownTarget, type RunningTarget, startTarget, type Target } from './support/target.ts';

const rounds = 2;
const protectedShoots = ['a', 'b', 'c', 'd', 'e'];
const unprotectedShoots = ['alone'];
/** Two looks of the prober, and two renewals of every lease. */
const settleMs = 15_000;
/** Of a program whose log is not known: its initial delay, and a run with all the delays of a scale-up. */
const foreignSettleMs = 90_000;
/** Every outage begins at another moment of the prober's and KCM's intervals. */
const spreadMs = 10_000;

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
    if (!isOwn) return clock.sleep(foreignSettleMs, never);
    await waitFor({ what: 'a verdict on every shoot', withinMs: 60_000, everyMs: 200 }, () => {
      program.check();
      return Promise.resolve(namespacesJudged(program.output()) === protectedShoots.length ? true : undefined);
    });
    return clock.sleep(settleMs, never);
  };
  try {
    await settle();
    program.check();
    return program;
  } catch (error) {
    await program.stop();
    throw new Error(`${String(error)}\n${program.tail()}`, { cause: error });
  }
};

const playRound = async (arenas: readonly Arena[], contest: Contest): Promise<readonly Run[]> => {
  await Promise.all(arenas.map((arena) => arena.prepare()));
  const prober = await startProber(contest);
  try {
    const race = async (arena: Arena): Promise<Run> => {
      await clock.sleep(random.next() * spreadMs, never);
      return arena.race();
    };
    const runs = await Promise.all(arenas.map(race));
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
    for (let round = 1; round <= rounds; round += 1) {
      say(`round ${String(round)} of ${String(rounds)}`);
      runs.push(...(await playRound(arenas, contest)));
    }
    return runs;
  } finally {
    await kcm.stop();
  }
};

const usage =
  'usage: node bench/race.ts [--target "CMD"]   CMD: another program that takes the prober\'s flags (default: bin/dwd)';

const main = async (): Promise<number> => {
  let command: string | undefined;
  try {
    command = parseArgs({ options: { target: { type: 'string' } } }).values.target;
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return 2;
  }
  const target = command === undefined ? ownTarget() : { name: 'target', command };
  const directory = mkdtempSync(join(tmpdir(), 'dwd-race-'));
  const seed = await startControlPlane({ name: 'seed' });
  const arenas: Arena[] = [];
  try {
    const verdict = tellRace(await play(seed, arenas, { target, isOwn: command === undefined, directory }));
    process.stdout.write(`${verdict.text}\n`);
    return verdict.exitCode;
  } finally {
    await Promise.all(arenas.map((arena) => arena.stop()));
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

process.exitCode = await main();
