// The prober against a real kube-controller-manager: which of them acts first when the kubelets of a shoot fall silent?
import { readFileSync } from 'node:fs';
import { type ControlPlane, startControlPlane } from '../../test/envtest/control-plane.ts';
import { startDeploymentController } from '../../test/envtest/deployment-controller.ts';
import { seedRules } from '../../test/envtest/shoot.ts';
import { messageOf, say } from '../harness/command.ts';
import { type BenchOptions, type PartResult, withTempDirectory } from '../harness/part.ts';
import { inSeconds } from '../harness/table.ts';
import { kcmName } from '../worlds/arena-shoot.ts';
import { type Arena, openArena } from '../worlds/arena.ts';
import { type Replicas, followReplicas } from '../worlds/managed-kcm.ts';
import { type RaceRecord, needsOutput, marginOf, raceResult } from './race-figures.ts';
import { type Kind, kinds } from './race-kinds.ts';
import { type RaceSettings, type RacedOutage, playRound } from './race-round.ts';

/** Factor of all times in a quick run. */
const quickScale = 0.2;
const control = 'alone';

const lineOf = (outage: RacedOutage): string =>
  `${outage.shoot}: margin ${inSeconds(marginOf(outage))} s, ${String(outage.unknown)} nodes Unknown`;

/** Plays one round. An error becomes a failure in the record, so that the results of the other rounds are kept. */
const attemptRound = async (kind: Kind, round: number, contest: RaceSettings): Promise<RaceRecord> => {
  try {
    const { outages, output } = await playRound(kind, round, contest);
    if (contest.isOwn && outages.some(needsOutput)) say(output);
    say(outages.map(lineOf).join('\n'));
    return { outages, failures: [] };
  } catch (error) {
    const message = messageOf(error);
    say(message);
    const what = `${kind.name}, round ${String(round + 1)}`;
    return { outages: [], failures: [`${what}: not played: ${message.split('\n')[0] ?? ''}`] };
  }
};

const play = async (played: readonly Kind[], contest: RaceSettings): Promise<RaceRecord> => {
  const records: RaceRecord[] = [];
  for (const kind of played) {
    for (let round = 0; round < contest.rounds; round += 1) {
      say(`${kind.name}: round ${String(round + 1)} of ${String(contest.rounds)}`);
      records.push(await attemptRound(kind, round, contest));
    }
  }
  return {
    outages: records.flatMap(({ outages }) => outages),
    failures: records.flatMap(({ failures }) => failures),
  };
};

/** Opens all arenas. Adds each to `opened` at once, so that the caller can stop them even after an error. */
const openAll = async (
  { quick, shoots = 5, nodes = 20, outages }: BenchOptions,
  { seed, kcm, opened }: { readonly seed: ControlPlane; readonly kcm: Replicas; readonly opened: Arena[] },
): Promise<Pick<RaceSettings, 'arenas' | 'control'>> => {
  const open = async (name: string): Promise<Arena> => {
    const shared = { seed, nodes, scale: quick ? quickScale : 1, replicas: kcm.replicas };
    const arena = await openArena({ ...shared, name, isProtected: name !== control });
    opened.push(arena);
    say(`shoot ${name} is up`);
    return arena;
  };
  const arenas: Arena[] = [];
  for (let shoot = 1; shoot <= shoots; shoot += 1) arenas.push(await open(`shoot-${String(shoot)}`));
  return { arenas, control: outages.some((name) => kinds[name].hasControl === true) ? await open(control) : undefined };
};

const race = async (options: BenchOptions, seed: ControlPlane, directory: string): Promise<RaceRecord> => {
  const { target, rounds, quick, outages } = options;
  const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: seedRules });
  const kcm = followReplicas(seed.client, kcmName);
  const controller = startDeploymentController(seed.client);
  const opened: Arena[] = [];
  try {
    const shoots = await openAll(options, { seed, kcm, opened });
    const kubeconfig = readFileSync(file, 'utf8');
    const shared = { target, isOwn: target.name === 'dwd', rounds, directory, random: Math.random };
    return await play(
      outages.map((name) => kinds[name]),
      { ...shared, ...shoots, seed, kubeconfig, scale: quick ? quickScale : 1 },
    );
  } finally {
    await Promise.allSettled(opened.map((arena) => arena.stop()));
    await controller.stop();
    await kcm.stop();
  }
};

export const runRace = (options: BenchOptions): Promise<PartResult> =>
  withTempDirectory(async (directory) => {
    const seed = await startControlPlane({ name: 'seed' });
    try {
      const record = await race(options, seed, directory);
      const { text, missed, failures } = raceResult(record);
      const json = { failures, outages: record.outages };
      return { markdown: text, missed: [...failures, ...missed], json, isLost: failures.length > 0 };
    } finally {
      await seed.stop();
    }
  });
