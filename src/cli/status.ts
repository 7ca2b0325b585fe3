import { systemClock } from '../process/index.ts';
import type { SeedStatus, StatusRun } from '../status/index.ts';
import { type Command, defineCommand } from './command.ts';
import { bool, shootName, shootNames } from './flag-types.ts';
import { flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { formatDocument, outputFlag } from './output.ts';
import { sessionOf, statusFlags } from './seed-flags.ts';
import { formatStatus } from './status-output.ts';
import { changeLines } from './status-changes.ts';

export type RunStatus = (run: StatusRun) => Promise<SeedStatus>;

const description = `Says in one sentence how the shoots of a seed are, then who leads, then a row for each shoot that needs eyes, the most urgent first: its state, since when, why, what comes next, and what to do. More than ten equal shoots share a row. Without a terminal, each shoot has a line of its own. The command only reads.

The leader knows most: its status is read through the API server (pods/proxy; the chart has the role: operator.enabled). If it does not respond, a hot standby is asked. If none responds, the objects of the seed show which resources are held and which shoots are paused.

Exits with 0 if nothing is held and every shoot is protected, with 1 if a shoot or the prober needs eyes, and with 2 if the state is not known.`;

const flags = {
  shoot: optionalFlag(shootName, `Show only this shoot, given as ${shootNames}`),
  all: flag(bool, 'false', 'Also list healthy shoots, and give each shoot its own row'),
  watch: { ...flag(bool, 'false', 'Keep running, and print changes until interrupted'), short: 'w' },
  ...statusFlags,
  output: outputFlag(),
} as const;

/** Time between two reads of `--watch`, in milliseconds. */
const refreshIntervalMs = 2_000;
/** A narrower terminal wraps lines by itself. */
const fewestColumns = 80;

/** Waits, and reads again. Resolves with undefined when the user ends the command. */
const readAgain = async (run: RunStatus, query: StatusRun): Promise<SeedStatus | undefined> => {
  try {
    await systemClock().sleep(refreshIntervalMs, query.stop);
    return await run(query);
  } catch (error) {
    if (query.stop.aborted) return undefined;
    throw error;
  }
};

export const statusCommand = (run: RunStatus): Command =>
  defineCommand({
    name: 'status',
    summary: 'show how the shoots are, why, what comes next, and what to do',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { shoot, output } = given;
      const all = given.all || shoot !== undefined;
      const { terminal } = io;
      const columns = terminal && Math.max(fewestColumns, terminal.columns || 0);
      // Nothing else writes while changes are shown.
      const own: CliIo = given.watch ? { ...io, progress: undefined } : io;
      const show = (status: SeedStatus): string =>
        output === 'table'
          ? formatStatus(status, { all, columns })
          : `${output === 'yaml' && given.watch ? '---\n' : ''}${formatDocument(status, output)}`;
      const print = output === 'table' && terminal !== undefined ? io.stdoutStyled : io.stdout;
      const query = { ...given, ...sessionOf(own) };
      let status = await run(query);
      print(show(status));
      // Changes of a table are lines, in order of time; a document is printed again.
      while (given.watch) {
        const next = await readAgain(run, query);
        if (next === undefined) break;
        const changes = changeLines(status, next);
        if (output === 'table') for (const line of changes) print(`${line}\n`);
        else if (changes.length > 0) print(show(next));
        status = next;
      }
      return status.exitCode;
    },
  });
