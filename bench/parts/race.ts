// The prober against a real kube-controller-manager: which of them acts first when the kubelets of a shoot fall silent?
import { readFileSync } from 'node:fs';
import { startControlPlane } from '../../test/envtest/control-plane.ts';
import { startDeploymentController } from '../../test/envtest/deployment-controller.ts';
import { seedRules } from '../../test/envtest/shoot.ts';
import { type Workplace, attempt } from '../harness/attempt.ts';
import { messageOf, say, write } from '../harness/command.ts';
import type { BenchOptions } from '../harness/options.ts';
import { type Arena, openArena } from '../worlds/arena.ts';
import { failureOf, lineOf, markdownOf } from './race-figures.ts';
import { type KindName, kinds } from './race-kinds.ts';
import { type RaceSettings, type RacedOutage, playRound } from './race-round.ts';

/** Plays one round. Returns undefined, and says why, if it fails: the results of the other rounds are kept. */
const playAndTell = async (name: KindName, round: number, settings: RaceSettings) => {
  const what = `${name}, round ${String(round + 1)}`;
  say(what);
  try {
    const { outages, output } = await playRound(name, round, settings);
    if (outages.some((outage) => failureOf(outage) !== undefined)) say(output);
    say(outages.map(lineOf).join('\n'));
    return outages;
  } catch (error) {
    say(`${what}: not played: ${messageOf(error)}`);
    return undefined;
  }
};

/** Starts a real seed and real shoots, and plays all rounds. Returns the outages of each. */
const play = async (options: BenchOptions, { directory, atEnd }: Workplace) => {
  const { target, rounds, scale, outages, shoots = 5, nodes = 20 } = options;
  const seed = await startControlPlane({ name: 'seed' });
  atEnd(() => seed.stop());
  const controller = startDeploymentController(seed.client);
  atEnd(() => controller.stop());
  const open = async (name: string, isProtected: boolean): Promise<Arena> => {
    const arena = await openArena({ seed, name, nodes, isProtected, scale });
    atEnd(() => arena.stop());
    return arena;
  };
  const arenas: Arena[] = [];
  for (let shoot = 1; shoot <= shoots; shoot += 1) arenas.push(await open(`shoot-${String(shoot)}`, true));
  const control = outages.some((name) => kinds[name].hasControl) ? await open('alone', false) : undefined;
  const { file } = await seed.kubeconfigFor({ user: 'dwd', rules: seedRules });
  const kubeconfig = readFileSync(file, 'utf8');
  const settings: RaceSettings = { target, seed, kubeconfig, directory, rounds, arenas, control, scale };
  const played: (readonly RacedOutage[] | undefined)[] = [];
  for (const name of outages) {
    for (let round = 0; round < rounds; round += 1) played.push(await playAndTell(name, round, settings));
  }
  return played;
};

export const runRace = async (options: BenchOptions): Promise<boolean> => {
  const played = await attempt('race', (place) => play(options, place));
  if (played === undefined) return false;
  const outages = played.flatMap((round) => round ?? []);
  const isWon = !played.includes(undefined) && outages.every((outage) => failureOf(outage) === undefined);
  write(markdownOf(outages));
  write(`\n${isWon ? 'No node was lost with the prober.' : 'The race is lost.'}`);
  return isWon;
};
