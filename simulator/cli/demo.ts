import { styleText } from 'node:util';
import type { CliIo, RunDemo } from '../../src/cli/index.ts';
import { createPage } from '../../src/page/server/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { BindAddress, Runnable } from '../../src/process/index.ts';
import { createLogger, escapeControls } from '../../src/telemetry/index.ts';
import { type Line, type Tone, aboutLines, faultsOnPage, render, runLive } from '../demo/index.ts';
import { type DemoProcesses, withProcesses } from './processes.ts';

/** Folder of the page's files for the browser, beside the simulator's bundle. */
const directory = new URL('page/', import.meta.url);

/** Creates the page of the demo. It prints its address once it is served. */
const demoPage = (
  { world, askStatus, clock }: Pick<DemoProcesses, 'world' | 'askStatus' | 'clock'>,
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
    ...faultsOnPage(world),
    onListening: ({ port }) => io.stdout(`the page: http://localhost:${String(port)}/\n`),
  });

const styles = { good: 'green', bad: 'red', strong: 'bold' } as const;

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

/** Runs `dwd demo` until its script ends, if there is one, or a signal arrives. */
export const runDemo: RunDemo = ({ source, shoots, page, script }, io) => {
  io.stdout('starting a simulated seed and its watchdogs; Ctrl-C ends the demo ...\n');
  return withProcesses({ source, shoots }, io, async (processes) => {
    const { world, askStatus, about, clock, stop } = processes;
    io.stdout(`${aboutLines(about).join('\n')}\n\n`);
    const ended = new AbortController();
    const end = (): void => ended.abort(new Error('the demo has ended'));
    const signal = AbortSignal.any([stop.signal, ended.signal]);
    const isScripted = page === undefined && (script || io.terminal === undefined);
    const readStatus = () => askStatus(undefined, signal).catch(() => undefined);
    const showing = runLive({ world, readStatus, print: printer(clock, io), clock, signal, isScripted });
    const serving = demoPage(processes, { address: page ?? freePort, io }).run(signal, () => undefined);
    await Promise.all([showing.finally(end), serving.finally(end)]);
    return 0;
  });
};
