import { styleText } from 'node:util';
import { type CliIo, CommandError, type RunDemo, type Terminal } from '../../src/cli/index.ts';
import type { Line, Paint } from '../../src/cli/status-screen/index.ts';
import { escapeControls } from '../../src/telemetry/index.ts';
import {
  type CareOutput,
  type Watchdogs,
  aboutLines,
  linesOfFindings,
  runScript,
  render,
  runLive,
} from '../demo/index.ts';
import { type DemoProcesses, withProcesses } from './processes.ts';
import { runOnPage } from './demo-page.ts';
import { serveDemoWorld } from './serve-world.ts';

/** Time limit for the whole script. */
const limitMs = 120_000;

const styles = { good: 'green', bad: 'red', strong: 'bold', dim: 'dim' } as const;

/** Colours text only if stdout is a terminal that allows it (`NO_COLOR`). */
const paint: Paint = (tone, text) => (tone === 'plain' ? text : styleText(styles[tone], text));

/** Runs `dwd demo` in a terminal. Resolves with 0 when the user quits. */
const runInTerminal = (watchdogs: Watchdogs, io: CliIo, terminal: Terminal): Promise<number> => {
  io.stdout('starting a simulated seed and its watchdogs ...\n');
  return withProcesses({ ...watchdogs, pace: 'live' }, io, async ({ source, about, clock, stop: { signal } }) => {
    try {
      await runLive({ source, about, terminal, paint, clock, signal });
    } finally {
      terminal.restore();
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
    const { clock, source, stop, about } = processes;
    const since = clock.monotonic();
    const print = (line: Line): void => {
      for (const text of render(line, clock.monotonic() - since)) {
        io.stdoutStyled(`${paint(line.tone, escapeControls(text))}\n`);
      }
    };
    const cancel = clock.timer(limitMs, () => stop.abort(new CommandError('the demo did not end in time')));
    try {
      io.stdout(`${aboutLines(about).join('\n')}\n\n`);
      const findings = await runScript({
        ...{ source, watchdogs, clock, print, signal: stop.signal },
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
  const directory = flags['serve-world'];
  if (directory !== undefined) {
    return serveDemoWorld({ directory, pace: flags.script ? 'script' : 'live', source: flags.source }, io);
  }
  const watchdogs = {
    withProber: !flags['without-prober'],
    withWeeder: !flags['without-weeder'],
    source: flags.source,
  };
  if (flags.page !== undefined) return runOnPage(watchdogs, flags.page, io);
  const { terminal } = io;
  // A dumb terminal prints control sequences as text.
  if (flags.script || io.env.TERM === 'dumb' || terminal === undefined) return runScripted(watchdogs, io);
  return runInTerminal(watchdogs, io, terminal);
};
