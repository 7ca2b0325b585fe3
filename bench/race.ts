// The prober against a real kube-controller-manager: which of them acts first when the kubelets of a shoot fall silent?
import { readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '../src/process/clock.ts';
import { systemRandom } from '../src/process/random.ts';
import { type ControlPlane, startControlPlane } from '../test/envtest/control-plane.ts';
import { startDeploymentController } from '../test/envtest/deployment-controller.ts';
import { seedRules } from '../test/envtest/shoot.ts';
import { messageOf, runCommand, say, write } from './harness/command.ts';
import { machine } from './harness/machine.ts';
import { withTempDirectory } from './harness/part.ts';
import { inSeconds } from './harness/table.ts';
import { type RaceRecord, needsOutput, marginOf, raceResult } from './parts/race-figures.ts';
import type { Kind } from './parts/race-kinds.ts';
import { type RaceLine, expectedMinutes, quickScale, raceUsage, readRaceLine } from './parts/race-options.ts';
import { type RaceSettings, type RacedOutage, playRound } from './parts/race-round.ts';
import { kcmName } from './worlds/arena-shoot.ts';
import { type Arena, openArena } from './worlds/arena.ts';
import { type Replicas, followReplicas } from './worlds/replicas.ts';

const clock = systemClock();
const random = systemRandom();
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

const play = async (kinds: readonly Kind[], contest: RaceSettings): Promise<RaceRecord> => {
  const records: RaceRecord[] = [];
  for (const kind of kinds) {
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
  line: RaceLine,
  { seed, kcm, opened }: { readonly seed: ControlPlane; readonly kcm: Replicas; readonly opened: Arena[] },
): Promise<Pick<RaceSettings, 'arenas' | 'control'>> => {
  const open = async (name: string): Promise<Arena> => {
    const isProtected = name !== control;
    const shared = { seed, nodes: line.nodes, scale: line.quick ? quickScale : 1, clock, random };
    const arena = await openArena({ ...shared, name, isProtected, replicas: kcm.replicas });
    opened.push(arena);
    say(`shoot ${name} is up`);
    return arena;
  };
  const arenas: Arena[] = [];
  for (let shoot = 1; shoot <= line.shoots; shoot += 1) arenas.push(await open(`shoot-${String(shoot)}`));
  if (!line.kinds.some(({ hasControl }) => hasControl)) return { arenas };
  return { arenas, control: await open(control) };
};

const race = async (line: RaceLine, seed: ControlPlane, directory: string): Promise<RaceRecord> => {
  const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: seedRules });
  const kcm = followReplicas(seed.client, kcmName);
  const controller = startDeploymentController(seed.client);
  const opened: Arena[] = [];
  try {
    const shoots = await openAll(line, { seed, kcm, opened });
    const { target, isOwn, rounds, quick } = line;
    const kubeconfig = readFileSync(file, 'utf8');
    const scale = quick ? quickScale : 1;
    const shared = { target, isOwn, rounds, directory, clock, random };
    return await play(line.kinds, { ...shared, ...shoots, seed, kubeconfig, scale });
  } finally {
    await Promise.allSettled(opened.map((arena) => arena.stop()));
    await controller.stop();
    await kcm.stop();
  }
};

const main = (line: RaceLine): Promise<number> =>
  withTempDirectory(async (directory) => {
    const startedAt = new Date(clock.now()).toISOString();
    const names = line.kinds.map(({ name }) => name).join(', ');
    say(`${names}: about ${String(expectedMinutes(line))} minutes`);
    const seed = await startControlPlane({ name: 'seed' });
    try {
      const record = await race(line, seed, directory);
      const { text, missed, failures } = raceResult(record);
      const note = line.quick ? ' A quick run: the figures mean nothing.' : '';
      write(`${startedAt}, ${machine()}.${note}\n\n${text}`);
      const figures = { startedAt, machine: machine(), missed, failures, outages: record.outages };
      if (line.json !== undefined) writeFileSync(line.json, `${JSON.stringify(figures)}\n`);
      return failures.length === 0 ? 0 : 1;
    } finally {
      await seed.stop();
    }
  });

await runCommand(raceUsage, () => readRaceLine(process.argv.slice(2)), main);
