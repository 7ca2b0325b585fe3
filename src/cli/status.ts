import type { Clock } from '../ports/clock.ts';
import { systemClock } from '../process/index.ts';
import type { SeedStatus, SeenShoot, StatusRun } from '../status/index.ts';
import { type Command, defineCommand } from './command.ts';
import { bool, shootName, shootNames } from './flag-types.ts';
import { flag, optionalFlag } from './parse-flags.ts';
import type { CliIo } from './io.ts';
import { formatDocument, outputFlag } from './output.ts';
import { statusFlags, statusRunOf } from './status-flags.ts';
import { watchLive } from './status-live.ts';
import { formatStatus, listed, tableLines } from './status-output.ts';

export type RunStatus = (run: StatusRun) => Promise<SeedStatus>;

const description = `Shows where meltdown protection is active, since when and why, and the next step: the leader, and a line for each shoot that is not healthy or not fully protected, worst first. The command only reads.

The leader knows most: its status is read through the API server (pods/proxy; the chart has the role: operator.enabled) or from --leader-url. If the leader does not respond, or no prober runs, the objects of the seed show which resources are held and which shoots are paused, and the table has a note about that.

Exits with 0 if every shoot is healthy and was probed within three intervals, with 1 if a shoot or the prober needs attention, for example because resources are held or no replica leads, or if the prober does not probe the given shoot, and with 2 if the state is unknown.`;

const flags = {
  shoot: optionalFlag(shootName, `Show only this shoot, given as ${shootNames}`),
  all: flag(bool, 'false', 'Also list healthy shoots'),
  watch: { ...flag(bool, 'false', 'Keep running, and show changes until interrupted'), short: 'w' },
  ...statusFlags,
  output: outputFlag(),
} as const;

/** Time between two reads of `--watch`, in milliseconds. */
const refreshIntervalMs = 2_000;
const usualColumns = 80;

interface Watching {
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly all: boolean;
  readonly columns: number;
}

/** Returns a key that changes only with a shoot's state, its held resources or the reason of a state other than healthy. */
const keyOf = ({ namespace, state, reason, held }: SeenShoot): string =>
  JSON.stringify([namespace, state, state === 'healthy' ? '' : reason, held]);

/** Waits for the next read. Resolves with false if `stop` aborts. */
const pause = (clock: Clock, stop: AbortSignal): Promise<boolean> =>
  clock.sleep(refreshIntervalMs, stop).then(
    () => true,
    () => false,
  );

/** Prints rows when they change, like `kubectl get -w`. Resolves with the exit code of the last status. */
const watch = async (read: () => Promise<SeedStatus>, io: CliIo, { clock, stop, all, columns }: Watching) => {
  let status = await read();
  io.stdout(formatStatus(status, { all, columns }));
  while (await pause(clock, stop)) {
    const known = new Set(status.shoots.map(keyOf));
    status = await read();
    const changed = status.shoots.filter((shoot) => !known.has(keyOf(shoot)));
    if (changed.length > 0) io.stdout(`${tableLines(changed, status.at, columns).slice(1).join('\n')}\n`);
  }
  return status.exitCode;
};

export const statusCommand = (run: RunStatus): Command =>
  defineCommand({
    name: 'status',
    summary: 'show where protection is active, since when and why, and the next step',
    description,
    flags,
    run: async ({ flags: given }, io) => {
      const { shoot, all, output } = given;
      const columns = Math.max(usualColumns, io.terminal?.size().columns ?? usualColumns);
      const stop = io.stopOnSignals();
      const { terminal } = io;
      // Nothing else writes while changes are shown.
      const own = given.watch ? { ...io, progress: undefined } : io;
      const read = (one = shoot): Promise<SeedStatus> => run(statusRunOf(given, { shoot: one, io: own, stop }));
      if (given.watch && terminal !== undefined) return watchLive({ terminal, clock: systemClock(), stop, read });
      if (given.watch) return watch(read, io, { clock: systemClock(), stop, all: all || shoot !== undefined, columns });
      const status = await read();
      const shown =
        output === 'table'
          ? formatStatus(status, { all: all || shoot !== undefined, columns, isOne: shoot !== undefined })
          : formatDocument({ ...status, shoots: listed(status, true) }, output);
      io.stdout(shown);
      return status.exitCode;
    },
  });
