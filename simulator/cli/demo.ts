import { styleText } from 'node:util';
import { type CliIo, type RunDemo, type Terminal, CommandError, UsageError } from '../../src/cli/index.ts';
import { errorText } from '../../src/kubernetes/api/errors.ts';
import { createPage, remoteSource } from '../../src/page/server/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { BindAddress, Runnable } from '../../src/process/index.ts';
import { createLogger, escapeControls } from '../../src/telemetry/index.ts';
import {
  type CareOutput,
  type Line,
  type Tone,
  type Watchdogs,
  aboutLines,
  demoPagePosts,
  demoPageSource,
  linesOfFindings,
  render,
  runLive,
  runScript,
} from '../demo/index.ts';
import { type DemoProcesses, withProcesses } from './processes.ts';

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
    source: demoPageSource(remoteSource(askStatus), stage),
    posts: demoPagePosts(stage),
    onListening: ({ port }) => io.stdout(`the page: http://localhost:${String(port)}/\n`),
  });

/** Runs `dwd demo --page` until a signal arrives; then resolves with 130. */
const runOnPage = (watchdogs: Watchdogs, address: BindAddress, io: CliIo): Promise<number> => {
  if (!watchdogs.withProber) {
    throw new UsageError('flag --page needs the prober: remove --without-prober');
  }
  io.stdout('starting a simulated seed and its watchdogs; Ctrl-C ends the demo ...\n');
  return withProcesses({ ...watchdogs, pace: 'live' }, io, async (processes) => {
    const { signal } = processes.stop;
    await demoPage(processes, { address, io }).run(signal, () => undefined);
    throw signal.reason;
  });
};

/** Time limit for the whole script. */
const limitMs = 120_000;

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

/** Runs `dwd demo` in a terminal. Resolves with 0 when the user quits. */
const runInTerminal = (watchdogs: Watchdogs, io: CliIo, terminal: Terminal): Promise<number> => {
  io.stdout('starting a simulated seed and its watchdogs ...\n');
  return withProcesses({ ...watchdogs, pace: 'live' }, io, async (processes) => {
    const { stage, about, clock, stop } = processes;
    const closing = new AbortController();
    const until = AbortSignal.any([stop.signal, closing.signal]);
    // A page that cannot be served must not end the demo: its processes and files would stay.
    const serving =
      watchdogs.withProber &&
      demoPage(processes, { address: freePort, io })
        .run(until, () => undefined)
        .catch((error: unknown) => io.stderr(`the page is not served: ${errorText(error)}\n`));
    try {
      const listen = (onKeys: (input: string) => void): void => terminal.listen(onKeys);
      await runLive({ stage, about, listen, print: printer(clock, io), clock, signal: stop.signal });
    } finally {
      terminal.restore();
      closing.abort(new Error('the demo has ended'));
      await serving;
    }
    return 0;
  });
};

/** Runs `dwd care --once` without its usual rate limit, so that it finishes during the outage. */
const runCare = async ({ runOnce, about: { careConfig, seedKubeconfig } }: DemoProcesses): Promise<CareOutput> => {
  const limits = ['--kube-api-qps=100', '--kube-api-burst=200'];
  const flags = ['--once', '--output=json', `--config-file=${careConfig}`, `--kubeconfig=${seedKubeconfig}`, ...limits];
  return JSON.parse(await runOnce(['care', ...flags], [0, 1])) as CareOutput;
};

/** Runs `dwd demo --script`. */
const runScripted = (watchdogs: Watchdogs, io: CliIo): Promise<number> =>
  withProcesses({ ...watchdogs, pace: 'script' }, io, async (processes) => {
    const { clock, stage, stop, about } = processes;
    const print = printer(clock, io);
    const cancel = clock.timer(limitMs, () => stop.abort(new CommandError('the demo did not end in time')));
    try {
      io.stdout(`${aboutLines(about).join('\n')}\n\n`);
      const findings = await runScript({
        ...{ stage, watchdogs, clock, print, signal: stop.signal },
        runCare: () => runCare(processes),
      });
      for (const line of linesOfFindings(findings)) print(line);
      return findings.every(({ seen }) => seen) ? 0 : 1;
    } finally {
      cancel();
    }
  });

/** Runs `dwd demo`. */
export const runDemo: RunDemo = (flags, io) => {
  const watchdogs = {
    withProber: !flags['without-prober'],
    withWeeder: !flags['without-weeder'],
    source: flags.source,
    shoots: flags.shoots,
  };
  if (flags.page !== undefined) return runOnPage(watchdogs, flags.page, io);
  const { terminal } = io;
  // A dumb terminal prints control sequences as text.
  if (flags.script || io.env.TERM === 'dumb' || terminal === undefined) return runScripted(watchdogs, io);
  return runInTerminal(watchdogs, io, terminal);
};
