import type { Clock } from '../ports/clock.ts';
import { systemClock } from '../process/index.ts';
import type { SeedStatus, StatusRun } from '../status/index.ts';
import { type Command, defineCommand } from './command.ts';
import { bool, shootName, shootNames } from './flag-types.ts';
import { flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { formatDocument, outputFlag } from './output.ts';
import { statusFlags, statusRunOf } from './seed-flags.ts';
import { formatStatus, inColour } from './status-output.ts';
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
const usualColumns = 80;

interface Watching {
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly show: (status: SeedStatus) => string;
  /** Prints changes as lines; else each changed status as a whole. */
  readonly printsLines: boolean;
}

/** Waits for the next read. Resolves with false if `stop` aborts. */
const pause = (clock: Clock, stop: AbortSignal): Promise<boolean> =>
  clock.sleep(refreshIntervalMs, stop).then(
    () => true,
    () => false,
  );

/** Prints the status, then what changes: a line each, in order of time. Resolves with the exit code of the last status. */
const watch = async (read: () => Promise<SeedStatus>, print: (text: string) => void, watching: Watching) => {
  const { clock, stop, show, printsLines } = watching;
  let status = await read();
  print(show(status));
  while (await pause(clock, stop)) {
    const next = await read();
    const changes = changeLines(status, next);
    if (printsLines) for (const line of changes) print(`${line}\n`);
    else if (changes.length > 0) print(show(next));
    status = next;
  }
  return status.exitCode;
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
      const columns = Math.max(usualColumns, terminal?.columns() ?? usualColumns);
      // Nothing else writes while changes are shown.
      const own: CliIo = given.watch ? { ...io, progress: undefined } : io;
      const paint = terminal === undefined ? undefined : inColour;
      const show = (status: SeedStatus): string =>
        output === 'table'
          ? formatStatus(status, { all, columns, paint })
          : `${output === 'yaml' && given.watch ? '---\n' : ''}${formatDocument(status, output)}`;
      const print = output === 'table' && terminal !== undefined ? io.stdoutStyled : io.stdout;
      const query = statusRunOf(given, shoot, own);
      if (given.watch) {
        const watching = { clock: systemClock(), stop: query.stop, show, printsLines: output === 'table' };
        return watch(() => run(query), print, watching);
      }
      const status = await run(query);
      print(show(status));
      return status.exitCode;
    },
  });
