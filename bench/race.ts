// The prober against a real kube-controller-manager: who is first, once the kubelets of a shoot fall silent?
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '../src/runtime/index.ts';
import { type Program, startProgram } from '../test/e2e/support/program.ts';
import { seedRules } from '../test/e2e/support/shoot.ts';
import { type ControlPlane, startControlPlane } from '../test/envtest/index.ts';
import { waitFor } from '../test/envtest/waiting.ts';
import { type Arena, kubeConfigSecretName, openArena, type Run } from './race/arena.ts';
import { followReplicas } from './race/replicas.ts';
import { tellRace } from './race/tell.ts';
import { gardenConfig } from './support/garden-config.ts';

const rounds = 2;
const protectedShoots = ['a', 'b', 'c', 'd', 'e'];
const unprotectedShoots = ['alone'];
/** Two looks of the prober, and two renewals of every lease. */
const settleMs = 15_000;
/** Every outage begins at another moment of the prober's and KCM's intervals. */
const spreadMs = 10_000;

const clock = systemClock();
const random = systemRandom();
const never = new AbortController().signal;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const startProber = async (kubeconfig: string, directory: string): Promise<Program> => {
  const config = join(directory, 'prober.yaml');
  writeFileSync(config, gardenConfig(kubeConfigSecretName));
  const addresses = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
  const program = startProgram(['prober', `--config-file=${config}`, `--kubeconfig=${kubeconfig}`, ...addresses]);
  await waitFor({ what: 'a verdict on every shoot', withinMs: 60_000, everyMs: 200 }, async () => {
    const judged = program.lines().filter(({ msg }) => msg === 'verdict');
    return new Set(judged.map(({ namespace }) => namespace)).size === protectedShoots.length ? true : undefined;
  }).catch((error: unknown) => {
    program.signal('SIGKILL');
    throw new Error(`${String(error)}\n${program.output()}`);
  });
  return program;
};

const playRound = async (
  arenas: readonly Arena[],
  { kubeconfig, directory }: { readonly kubeconfig: string; readonly directory: string },
): Promise<readonly Run[]> => {
  await Promise.all(arenas.map((arena) => arena.prepare()));
  const prober = await startProber(kubeconfig, directory);
  try {
    await clock.sleep(settleMs, never);
    const race = async (arena: Arena): Promise<Run> => {
      await clock.sleep(random.next() * spreadMs, never);
      return arena.race();
    };
    const runs = await Promise.all(arenas.map(race));
    const isLost = runs.some(({ isProtected, unknown }) => isProtected && unknown > 0);
    if (isLost) say(prober.output());
    return runs;
  } finally {
    prober.signal('SIGTERM');
    await prober.ended;
  }
};

const play = async (seed: ControlPlane, arenas: Arena[], directory: string): Promise<readonly Run[]> => {
  const { file: kubeconfig } = await seed.kubeconfigFor({ user: 'dwd', rules: seedRules });
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
      runs.push(...(await playRound(arenas, { kubeconfig, directory })));
    }
    return runs;
  } finally {
    await kcm.stop();
  }
};

const main = async (): Promise<number> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-race-'));
  const seed = await startControlPlane({ name: 'seed' });
  const arenas: Arena[] = [];
  try {
    const verdict = tellRace(await play(seed, arenas, directory));
    process.stdout.write(`${verdict.text}\n`);
    return verdict.exitCode;
  } finally {
    await Promise.all(arenas.map((arena) => arena.stop()));
    await seed.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

process.exitCode = await main();
