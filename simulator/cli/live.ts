import { closeSync, openSync, readSync } from 'node:fs';
import { styleText } from 'node:util';
import type { CliIo, Terminal } from '../../src/cli/index.ts';
import { escapeControls } from '../../src/telemetry/index.ts';
import { type Row, type Segment, demoTiming, leaseLimitMs, runLive } from '../demo/index.ts';
import { type DemoOptions, type Play, stagePlay } from './play.ts';

const styles = {
  plain: undefined,
  good: 'green',
  bad: 'red',
  act: 'bold',
  dim: 'dim',
} as const satisfies Record<Segment['tone'], unknown>;

/** Without colour where the user does not want it (`NO_COLOR`). */
const paint = (row: Row): string =>
  row
    .map(({ text, tone }) => {
      const style = styles[tone];
      const plain = escapeControls(text);
      return style === undefined ? plain : styleText(style, plain);
    })
    .join('');

const chunkBytes = 64 * 1024;

/** Whole lines that were added to the file since the last call. */
const followLines = (path: string): { readonly read: () => readonly string[]; readonly close: () => void } => {
  const file = openSync(path, 'r');
  const buffer = new Uint8Array(chunkBytes);
  const decoder = new TextDecoder();
  let begun = '';
  return {
    read: () => {
      for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer)) {
        begun += decoder.decode(buffer.subarray(0, size), { stream: true });
      }
      const lines = begun.split('\n');
      begun = lines.pop() ?? '';
      return lines;
    },
    close: () => closeSync(file),
  };
};

const pace = 'live';

const backdropOf = ({ withProber, withWeeder, world, logs, careConfig }: Play) => ({
  withProber,
  withWeeder,
  limitMs: leaseLimitMs(pace),
  graceMs: demoTiming(pace).graceMs,
  seedKubeconfig: world.seed,
  careConfig,
  shootKubeconfigs: world.shoots.map(({ kubeconfig }) => kubeconfig),
  logs: Object.values(logs),
});

/** `dwd demo` for a user who takes part. Resolves with 0 when that user has seen enough. */
export const playDemo = (
  { withProber, withWeeder }: Omit<DemoOptions, 'pace'>,
  { io, terminal }: { readonly io: CliIo; readonly terminal: Terminal },
): Promise<number> => {
  io.stdout('starting a simulated seed and its watchdogs ...\n');
  return stagePlay({ withProber, withWeeder, pace }, io, async (play) => {
    const { watched, clock, since, stop, logs } = play;
    const log = logs.prober === undefined ? undefined : followLines(logs.prober);
    try {
      await runLive({
        watched,
        backdrop: backdropOf(play),
        screen: {
          size: () => terminal.size(),
          draw: (rows) => terminal.draw(rows.map(paint)),
          listen: (listeners) => terminal.take(listeners),
        },
        clock,
        since,
        readProberLog: () => log?.read() ?? [],
        signal: stop.signal,
      });
    } finally {
      terminal.restore();
      log?.close();
    }
    return 0;
  });
};
