import { CommandError } from '../process/index.ts';
import type { ReleaseReport, ReleaseRun } from '../steer/index.ts';
import { type Command, defineCommand } from './command.ts';
import { bool, text } from './flag-types.ts';
import { UsageError } from './errors.ts';
import { flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { loadProberFile } from './config-file.ts';
import { checkTarget, leaderFlags, sessionOf, steerFlags } from './seed-flags.ts';

export type RunRelease = (run: ReleaseRun) => Promise<ReleaseReport>;

const description = `Restores the held resources of one shoot or of all, level by level, and waits until they are ready. It works even while no prober runs. It first pauses the shoot for 10 minutes, so that a prober does not undo the release; --all pauses all shoots, also if nothing is held, so that you can remove the prober then.

A release during an outage costs the shoot its nodes. So dwd release reads the state of the outage from the leader, and refuses if the outage continues. It also refuses if a prober leads but does not respond: that prober restores the resources itself when the outage is over. --despite-outage overrides both. If no replica leads, the state is unknown: the command prints that and continues.

In a terminal it prompts for confirmation unless --yes is given; without a terminal it requires --yes. It restores what the configuration names, and what was held together with that. Exits with 0 if nothing is held any more, and with 1 if resources are still held or the answer was no.`;

const { kubeconfig, context, timeoutMs, ...target } = steerFlags('5m');

const flags = {
  timeoutMs,
  ...target,
  configFile: optionalFlag(
    text('path', 'the path of the configuration file'),
    "Path of the prober's configuration file, which names the resources and their order. Without it: the installed configuration, else Gardener's",
  ),
  yes: flag(bool, 'false', 'Do not prompt for confirmation', 'y'),
  wait: flag(
    bool,
    'true',
    'Wait until all is restored and ready. Cannot be turned off: each level waits for the one before',
  ),
  despiteOutage: flag(
    bool,
    'false',
    'Release even if the outage continues, although KCM then gives up the nodes of the shoot',
  ),
  ...leaderFlags,
  dryRun: flag(bool, 'false', 'Change nothing, and print the resources that would be restored'),
  kubeconfig,
  context,
} as const;

/** Shows the operator lines, and asks for confirmation unless it is given already. */
const confirmingOn =
  ({ ask, stdout }: CliIo, isConfirmed: boolean): ReleaseRun['confirm'] =>
  async (lines) => {
    if (ask === undefined && !isConfirmed) {
      throw new CommandError('there is no terminal to confirm in: give --yes to restore the held resources', lines);
    }
    stdout(`${lines.join('\n')}\n`);
    if (isConfirmed || ask === undefined) return isConfirmed;
    return ['y', 'yes'].includes((await ask('Go on? [y/N] ')).trim().toLowerCase());
  };

export const releaseCommand = (run: RunRelease): Command =>
  defineCommand({
    name: 'release',
    summary: 'restore held resources, even while no prober runs',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { configFile, yes, wait } = given;
      checkTarget(given);
      if (!wait) throw new UsageError('--wait cannot be turned off: each level waits for the one before');
      const settings = configFile === undefined ? undefined : (await loadProberFile(configFile, io)).settings;
      const { lines, isDone } = await run({ ...given, ...sessionOf(io), settings, confirm: confirmingOn(io, yes) });
      io.stdout(`${lines.join('\n')}\n`);
      return isDone ? 0 : 1;
    },
  });
