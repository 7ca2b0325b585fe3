import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { ApiError } from '../domain/index.ts';
import { createShootConnector } from '../kube/index.ts';
import type { Clock, KubeClient } from '../ports/index.ts';
import { systemClock } from '../runtime/index.ts';
import {
  demoPlan,
  demoProberConfig,
  type Finding,
  introduce,
  type Line,
  narrate,
  render,
  tellFindings,
  type Tone,
} from '../scenario/index.ts';
import { version } from './build-info.ts';
import { type Child, startChild } from './demo-child.ts';
import type { WorldReport } from './demo-world.ts';
import { CommandError } from './errors.ts';
import type { CliIo } from './io.ts';

/** For the world to be served, and for everything. */
const startLimitMs = 20_000;
const limitMs = 85_000;

const styles = { plain: undefined, good: 'green', bad: 'red', act: 'bold' } as const satisfies Record<Tone, unknown>;

/** In colour only where stdout is a terminal that wants it (`NO_COLOR`). */
const print = (io: CliIo, { tone, ...line }: Line, at: number): void => {
  const style = styles[tone];
  for (const text of render({ tone, ...line }, at)) {
    io.stdout(`${style === undefined ? text : styleText(style, text)}\n`);
  }
};

interface Play {
  readonly io: CliIo;
  readonly clock: Clock;
  readonly since: number;
  readonly directory: string;
  readonly withProber: boolean;
  /** Aborts when the demo is to end early; the reason says why. */
  readonly stop: AbortController;
}

/** The first line that the child prints. Rejects when it ends instead, or takes too long. */
const firstLine = (child: Child, { clock, stop }: Play): Promise<string> =>
  new Promise((resolve, reject) => {
    let [text, errors] = ['', ''];
    const cancel = clock.timer(startLimitMs, () => reject(new CommandError('the world did not start in time')));
    child.process.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.process.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason as Error));
    void child.ended.then((how) => {
      cancel();
      reject(new CommandError(`the world ${how}\n${errors}`));
    });
    child.process.stdout?.once('data', cancel);
  });

/** Ends the play when the child ends before it. */
const watchOver = (child: Child, name: string, { stop }: Play): void => {
  void child.ended.then((how) => stop.abort(new CommandError(`${name} ${how}, too early`)));
};

/** Namespaces that the prober has judged, by its log. */
const judgedIn = (log: string): number => {
  const lines = readFileSync(log, 'utf8').split('\n');
  const verdicts = lines.filter((line) => line.includes('"msg":"verdict"'));
  return new Set(verdicts.map((line) => /"namespace":"([^"]*)"/.exec(line)?.[1])).size;
};

const startProber = (play: Play, { seed, log }: { readonly seed: string; readonly log: string }): Child => {
  const config = join(play.directory, 'prober.yaml');
  writeFileSync(config, demoProberConfig);
  const addresses = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
  const child = startChild({
    args: ['prober', `--config-file=${config}`, `--kubeconfig=${seed}`, ...addresses],
    clock: play.clock,
    output: openSync(log, 'a', 0o600),
  });
  watchOver(child, 'the prober', play);
  return child;
};

const tell = async (play: Play, world: WorldReport, log: string | undefined): Promise<readonly Finding[]> => {
  const { io, clock, since, withProber, stop } = play;
  const connector = createShootConnector({ clock, userAgent: `dependency-watchdog-demo/${version}` });
  const clientFor = (path: string): KubeClient => connector.connect(readFileSync(path, 'utf8')).client;
  return narrate({
    watched: {
      seed: clientFor(world.seed),
      shoots: world.shoots.map(({ kubeconfig, ...shoot }) => ({ ...shoot, client: clientFor(kubeconfig) })),
    },
    plan: demoPlan(withProber),
    clock,
    since,
    isWatched: () => log !== undefined && judgedIn(log) >= world.shoots.length,
    tell: (line, at) => print(io, line, at),
    signal: stop.signal,
  });
};

const conclude = ({ io, clock, since }: Play, results: readonly Finding[]): number => {
  const at = clock.monotonic() - since;
  for (const line of tellFindings(results)) print(io, line, at);
  return results.every(({ seen }) => seen) ? 0 : 1;
};

const perform = async (play: Play, children: Child[], log: string | undefined): Promise<number> => {
  const { io, clock, directory } = play;
  const stage = startChild({ args: ['demo', `--serve-world=${directory}`], clock, output: 'pipe' });
  children.push(stage);
  const world = JSON.parse(await firstLine(stage, play)) as WorldReport;
  watchOver(stage, 'the world', play);
  const victim = world.shoots[0]?.namespace ?? '';
  const introduction = introduce({
    directory,
    seedKubeconfig: world.seed,
    victim,
    ...(log === undefined ? {} : { proberLog: log }),
  });
  io.stdout(`${introduction.join('\n')}\n`);
  if (log !== undefined) children.push(startProber(play, { seed: world.seed, log }));
  return conclude(play, await tell(play, world, log));
};

/** `dwd demo` as its user sees it. */
export const showDemo = async ({ withProber }: { readonly withProber: boolean }, io: CliIo): Promise<number> => {
  const clock = systemClock();
  const stop = new AbortController();
  const user = io.stopOnSignals();
  user.addEventListener('abort', () => stop.abort(user.reason), { once: true });
  const directory = mkdtempSync(join(tmpdir(), 'dwd-demo-'));
  const log = withProber ? `${directory}.log` : undefined;
  const play = { io, clock, since: clock.monotonic(), directory, withProber, stop };
  const children: Child[] = [];
  const cancel = clock.timer(limitMs, () => stop.abort(new CommandError('the demo did not end in time')));
  let exitCode = 1;
  try {
    exitCode = await perform(play, children, log);
    return exitCode;
  } catch (error) {
    if (!user.aborted) throw inWords(error);
    io.stdout('interrupted\n');
    exitCode = 130;
    return exitCode;
  } finally {
    cancel();
    for (const child of children.toReversed()) await child.end();
    rmSync(directory, { recursive: true, force: true });
    if (exitCode === 1 && log !== undefined) io.stderr(`the prober's log:\n${readLog(log)}`);
  }
};

const inWords = (error: unknown): unknown =>
  error instanceof ApiError ? new CommandError(`the simulated world does not answer: ${error.message}`) : error;

const readLog = (log: string): string => {
  try {
    return readFileSync(log, 'utf8');
  } catch {
    return '(there is none)\n';
  }
};
