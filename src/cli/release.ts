import type { CommandFailure } from '../install/index.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import type { ReleaseQuestion, ReleaseReport, ReleaseRun } from '../steer/index.ts';
import { clusterFlags, valueOf } from './cluster-command.ts';
import { type Command, defineCommand } from './command.ts';
import { CommandError } from './errors.ts';
import { bool, text } from './flag-types.ts';
import { flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { loadProberFile } from './prober-file.ts';
import { leaderFlags } from './status-flags.ts';
import { steerCommandOf, steerFlags } from './steer-flags.ts';

export type RunRelease = (run: ReleaseRun) => Promise<Result<ReleaseReport, CommandFailure>>;

const description = `Restores what meltdown protection holds, of one shoot or of all, each shoot in the order of its levels, and waits for it: also when no prober runs. It pauses each of these shoots for 10 minutes before, so that a prober does not undo it.

A release in an outage costs its nodes. So it asks the leader whether the outage goes on, and refuses then, unless --despite-outage is given; also where a prober leads that cannot be asked, because that one restores by itself what it may. Where nobody leads it cannot know, and says so.

In a terminal it asks first, unless --yes is given; without a terminal it takes --yes. What the configuration does not name is left. Exits with 0 when nothing is held any more, and with 1 when something is, or when the answer was no.`;

const { kubeconfig, 'dry-run': dryRun, ...rest } = { ...clusterFlags('5m'), ...steerFlags('5m') };

const flags = {
  ...rest,
  'config-file': optionalFlag(
    text('path', 'the path of the configuration file'),
    "Configuration of the prober: what is restored, and in which order. Without it: what dwd install has installed, else Gardener's own",
  ),
  yes: flag(bool, 'false', 'Do not ask', 'y'),
  'despite-outage': flag(bool, 'false', 'Release also where the outage goes on: its nodes are given up then'),
  ...leaderFlags,
  'dry-run': { ...dryRun, description: 'Change nothing, and print what would be restored' },
  kubeconfig,
} as const;

const linesIf = (line: string | undefined): readonly string[] => (line === undefined ? [] : [line]);

const asking =
  (io: CliIo) =>
  async ({ order, held, outages }: ReleaseQuestion): Promise<boolean> => {
    io.progress?.clear();
    const { ask } = io;
    const lines = [...linesIf(order), ...held, ...outages];
    if (ask === undefined) {
      throw new CommandError('it would restore what is held, and there is no terminal to ask in: give --yes', lines);
    }
    io.stdout(`${lines.join('\n')}\n`);
    const answer = await ask('Restore these? [y/N] ');
    return ['y', 'yes'].includes(answer.trim().toLowerCase());
  };

/** Prints the order and the state of outages, and confirms without a question. */
const telling =
  (io: CliIo) =>
  async ({ order, outages }: ReleaseQuestion): Promise<boolean> => {
    io.progress?.clear();
    io.stdout(`${[...linesIf(order), ...outages].join('\n')}\n`);
    return true;
  };

const linesOf = ({ outcome, order, restored, left, paused, outages }: ReleaseReport): readonly string[] => {
  const stays = left.map((line) => `stays: ${line}`);
  switch (outcome) {
    case 'nothing-held':
      return ['nothing is held'];
    case 'declined':
      return ['nothing was changed'];
    case 'dry-run':
      return [
        ...linesIf(order),
        ...restored.map((name) => `would restore ${name}`),
        ...stays,
        ...outages,
        'nothing was changed',
      ];
    case 'released':
      return [
        ...restored.map((name) => `restored ${name}`),
        ...stays,
        ...paused.map((namespace) => `${namespace}: paused for 10 minutes; dwd resume --shoot ${namespace} ends that`),
        ...outages,
      ];
  }
};

const exitCodeOf = ({ outcome, left }: ReleaseReport): number => (outcome === 'declined' || left.length > 0 ? 1 : 0);

export const releaseCommand = (run: RunRelease): Command =>
  defineCommand({
    name: 'release',
    summary: 'restore what is held, also while no prober runs',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { 'config-file': file, yes, selector, 'leader-url': leaderUrl, 'leader-timeout': leaderTimeoutMs } = given;
      const leader = { selector, leaderUrl, leaderTimeoutMs };
      const brakes = { dryRun: given['dry-run'], despiteOutage: given['despite-outage'] };
      const command = { ...steerCommandOf(given, io), ...brakes, leader };
      const settings = file === undefined ? undefined : (await loadProberFile(file, io)).settings;
      const confirm = yes ? telling(io) : asking(io);
      const report = valueOf(await run({ ...command, settings, confirm }), io);
      io.stdout(`${linesOf(report).join('\n')}\n`);
      return exitCodeOf(report);
    },
  });
