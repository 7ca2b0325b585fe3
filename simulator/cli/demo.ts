import { styleText } from 'node:util';
import type { CliIo, RunDemo, Terminal } from '../../src/cli/index.ts';
import { errorText } from '../../src/kubernetes/api/errors.ts';
import { createPage } from '../../src/page/server/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { BindAddress, Runnable } from '../../src/process/index.ts';
import { createLogger, escapeControls } from '../../src/telemetry/index.ts';
import {
  type Line,
  type LiveOptions,
  type Tone,
  aboutLines,
  faultsOnPage,
  render,
  runLive,
  scriptedKeys,
} from '../demo/index.ts';
import { type DemoOptions, type DemoProcesses, withProcesses } from './processes.ts';

/** Folder of the page's files for the browser, beside the simulator's bundle. */
const directory = new URL('page/', import.meta.url);

/** Creates the page of the demo. It prints its address once it is served. */
const demoPage = (
  { stage, askStatus, clock }: Pick<DemoProcesses, 'stage' | 'askStatus' | 'clock'>,
  { address, io }: { readonly address: BindAddress; readonly io: CliIo },
): Runnable =>
  createPage({
    ...{
      address,
      directory,
      clock,
      logger: createLogger({ level: 'error', encoder: 'console', write: io.stderr, clock }),
    },
    status: askStatus,
    ...faultsOnPage(stage),
    onListening: ({ port }) => io.stdout(`the page: http://localhost:${String(port)}/\n`),
  });

/** Runs `dwd demo --page` until a signal arrives; then resolves with 130. */
const runOnPage = (options: DemoOptions, address: BindAddress, io: CliIo): Promise<number> => {
  io.stdout('starting a simulated seed and its watchdogs; Ctrl-C ends the demo ...\n');
  return withProcesses(options, io, async (processes) => {
    const { signal } = processes.stop;
    await demoPage(processes, { address, io }).run(signal, () => undefined);
    throw signal.reason;
  });
};

const styles = { good: 'green', bad: 'red', strong: 'bold', dim: 'dim' } as const;

/** Colours text only if stdout is a terminal that allows it (`NO_COLOR`). */
const paint = (tone: Tone, text: string): string => (tone === 'plain' ? text : styleText(styles[tone], text));

/** Returns a function that prints lines with the time since now. */
const printer = (clock: Clock, io: CliIo): ((line: Line) => void) => {
  const since = clock.monotonic();
  return (line) => {
    for (const text of render(line, clock.monotonic() - since)) {
      io.stdoutStyled(`${paint(line.tone, escapeControls(text))}\n`);
    }
  };
};

/** Any free port of this machine alone. */
const freePort = { host: '127.0.0.1', port: 0 };

/** Runs `dwd demo` in a terminal, or with a script that presses the keys. Resolves with 0 when the user or the script quits. */
const runLines = (options: DemoOptions, io: CliIo, terminal: Terminal | undefined): Promise<number> => {
  io.stdout('starting a simulated seed and its watchdogs ...\n');
  return withProcesses(options, io, async (processes) => {
    const { stage, about, clock, stop } = processes;
    if (terminal === undefined) io.stdout(`${aboutLines(about).join('\n')}\n\n`);
    const closing = new AbortController();
    const until = AbortSignal.any([stop.signal, closing.signal]);
    // A page that cannot be served must not end the demo: its processes and files would stay.
    const serving = demoPage(processes, { address: freePort, io })
      .run(until, () => undefined)
      .catch((error: unknown) => io.stderr(`the page is not served: ${errorText(error)}\n`));
    try {
      const listen: LiveOptions['listen'] =
        terminal === undefined
          ? scriptedKeys({ stage, clock, signal: stop.signal })
          : (onKeys) => terminal.listen(onKeys);
      await runLive({ stage, about, listen, print: printer(clock, io), clock, signal: stop.signal });
    } finally {
      terminal?.restore();
      closing.abort(new Error('the demo has ended'));
      await serving;
    }
    return 0;
  });
};

/** Runs `dwd demo`. */
export const runDemo: RunDemo = ({ source, shoots, page, script }, io) => {
  const options = { source, shoots };
  if (page !== undefined) return runOnPage(options, page, io);
  // A dumb terminal prints control sequences as text.
  return runLines(options, io, script || io.env.TERM === 'dumb' ? undefined : io.terminal);
};
