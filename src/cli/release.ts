import type { CommandFailure } from '../process/index.ts';
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

const description = `Restores the held resources of one shoot or of all, level by level, and waits until they are ready. It works even while no prober runs. It first pauses each of these shoots for 10 minutes, so that a prober does not undo the release.

A release during an outage costs the shoot its nodes. So dwd release reads the state of the outage from the leader, and refuses if the outage continues. It also refuses if a prober leads but does not respond: that prober restores the resources itself when the outage is over. --despite-outage overrides both. If no replica leads, the state is unknown: the command prints that and continues.

In a terminal it prompts for confirmation unless --yes is given; without a terminal it requires --yes. It does not touch resources that the configuration does not name. Exits with 0 if nothing is held any more, and with 1 if resources are still held or the answer was no.`;

const { kubeconfig, context, 'dry-run': dryRun, ...rest } = { ...clusterFlags('5m'), ...steerFlags('5m') };

const flags = {
  ...rest,
  'config-file': optionalFlag(
    text('path', 'the path of the configuration file'),
    "Path of the prober's configuration file, which names the resources and their order. Without it: the installed configuration, else Gardener's",
  ),
  yes: flag(bool, 'false', 'Do not prompt for confirmation', 'y'),
  'despite-outage': flag(
    bool,
    'false',
    'Release even if the outage continues, although KCM then gives up the nodes of the shoot',
  ),
  ...leaderFlags,
  'dry-run': { ...dryRun, description: 'Change nothing, and print the resources that would be restored' },
  kubeconfig,
  context,
} as const;

const linesIf = (line: string | undefined): readonly string[] => (line === undefined ? [] : [line]);

const asking =
  (io: CliIo) =>
  async ({ order, held, outages }: ReleaseQuestion): Promise<boolean> => {
    io.progress?.clear();
    const { ask } = io;
    const lines = [...linesIf(order), ...held, ...outages];
    if (ask === undefined) {
      throw new CommandError('there is no terminal to confirm in: give --yes to restore the held resources', lines);
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

const linesOf = ({ outcome, order, restored, givenBack, left, paused, outages }: ReleaseReport): readonly string[] => {
  const stays = left.map((line) => `still held: ${line}`);
  switch (outcome) {
    case 'nothing-held':
      return ['nothing is held'];
    case 'declined':
      return ['nothing was changed'];
    case 'dry-run':
      return [
        ...linesIf(order),
        ...restored.map((name) => `would restore ${name}`),
        ...givenBack.map((line) => `would give back to its owner at 0: ${line}`),
        ...stays,
        ...outages,
        'nothing was changed',
      ];
    case 'released':
      return [
        ...restored.map((name) => `restored ${name}`),
        ...givenBack.map((line) => `given back to its owner at 0: ${line}`),
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
    summary: 'restore held resources, even while no prober runs',
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
