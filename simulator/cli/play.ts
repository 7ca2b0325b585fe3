import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CliIo, CommandError, version } from '../../src/cli/index.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { KubeClient } from '../../src/kubernetes/api/kube.ts';
import { createShootConnector } from '../../src/kubernetes/connection/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/process/index.ts';
import { type Pace, type Watched, demoCareConfig, demoProberConfig, demoWeederConfig } from '../demo/index.ts';
import { type Child, startChild } from './child.ts';
import type { WorldReport } from './serve-world.ts';

/** For the world to be served. */
const startLimitMs = 20_000;

export interface DemoOptions {
  readonly pace: Pace;
  readonly withProber: boolean;
  readonly withWeeder: boolean;
}

/** The world and the watchdogs, each in a process of its own. */
export interface Play extends DemoOptions {
  readonly io: CliIo;
  readonly clock: Clock;
  /** Monotonic time when it began. */
  readonly since: number;
  /** Temporary, of all that is written. */
  readonly directory: string;
  readonly world: WorldReport;
  readonly watched: Watched;
  /** Where the watchdogs that run log. */
  readonly logs: Logs;
  /** Whether each of them has looked at every shoot. */
  readonly isWatched: () => boolean;
  /** Path of the configuration of care, which runs only when it is asked. */
  readonly careConfig: string;
  /** What this program prints with these arguments. Rejects when it ends otherwise than with one of `codes`. */
  readonly ask: (args: readonly string[], codes: readonly number[]) => Promise<string>;
  /** Aborts when the play is to end early; the reason says why. */
  readonly stop: AbortController;
}

interface Logs {
  readonly prober?: string;
  readonly weeder?: string;
}

type Backstage = Pick<Play, 'io' | 'clock' | 'directory' | 'pace' | 'stop'>;

/** The first line that the child prints. Rejects when it ends instead, or takes too long. */
const firstLine = (child: Child, { clock, stop }: Backstage): Promise<string> =>
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
const watchOver = (child: Child, name: string, { stop }: Backstage): void => {
  void child.ended.then((how) => stop.abort(new CommandError(`the ${name} ${how}, too early`)));
};

interface Watchdog {
  readonly name: 'prober' | 'weeder';
  readonly config: string;
  readonly seed: string;
  readonly log: string;
}

const startWatchdog = (backstage: Backstage, { name, config, seed, log }: Watchdog): Child => {
  const file = join(backstage.directory, `${name}.yaml`);
  writeFileSync(file, config);
  const addresses = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
  const child = startChild({
    ...backstage,
    args: [name, `--config-file=${file}`, `--kubeconfig=${seed}`, ...addresses],
    output: openSync(log, 'a', 0o600),
  });
  watchOver(child, name, backstage);
  return child;
};

/** Namespaces of which the log has such a message. */
const namespacesIn = (log: string, message: string): number => {
  const lines = readFileSync(log, 'utf8').split('\n');
  const told = lines.filter((line) => line.includes(`"msg":"${message}"`));
  return new Set(told.map((line) => /"namespace":"([^"]*)"/.exec(line)?.[1])).size;
};

const connect = (world: WorldReport, clock: Clock): Watched => {
  const connector = createShootConnector({ clock, userAgent: `dependency-watchdog-demo/${version}` });
  const clientFor = (path: string): KubeClient => connector.connect(readFileSync(path, 'utf8')).client;
  return {
    seed: clientFor(world.seed),
    shoots: world.shoots.map(({ kubeconfig, ...shoot }) => ({ ...shoot, client: clientFor(kubeconfig) })),
  };
};

const raise = async (backstage: Backstage, children: Child[]): Promise<WorldReport> => {
  const { directory, pace } = backstage;
  const args = ['demo', `--serve-world=${directory}`, ...(pace === 'script' ? ['--script'] : [])];
  const stage = startChild({ ...backstage, args, output: 'pipe' });
  children.push(stage);
  const world = JSON.parse(await firstLine(stage, backstage)) as WorldReport;
  watchOver(stage, 'world', backstage);
  return world;
};

const startWatchdogs = (backstage: Backstage, { seed }: WorldReport, { prober, weeder }: Logs): readonly Child[] => [
  ...(prober === undefined
    ? []
    : [startWatchdog(backstage, { name: 'prober', config: demoProberConfig(backstage.pace), seed, log: prober })]),
  ...(weeder === undefined
    ? []
    : [startWatchdog(backstage, { name: 'weeder', config: demoWeederConfig, seed, log: weeder })]),
];

const watchingIn =
  ({ prober, weeder }: Logs, shoots: number) =>
  (): boolean =>
    (prober === undefined || namespacesIn(prober, 'verdict') >= shoots) &&
    (weeder === undefined || namespacesIn(weeder, 'weeding starts: the service is ready') >= shoots);

const readAll = async (stream: AsyncIterable<Buffer> | null): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const asker =
  (backstage: Backstage, children: Child[]): Play['ask'] =>
  async (args, codes) => {
    const child = startChild({ ...backstage, args, output: 'pipe' });
    children.push(child);
    const [text, errors, how] = await Promise.all([
      readAll(child.process.stdout),
      readAll(child.process.stderr),
      child.ended,
    ]);
    if (codes.includes(child.process.exitCode ?? -1)) return text;
    throw new CommandError(`dwd ${args[0] ?? ''} ${how}\n${errors}`.trimEnd());
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

const tellLogs = (logs: Logs, io: CliIo): void => {
  for (const [name, log] of Object.entries(logs)) io.stderr(`the ${name}'s log:\n${readLog(String(log))}`);
};

/**
 * Starts the world and the watchdogs, lets `perform` go on with them and ends them, however that ends: nothing stays. Resolves
 * with the exit code of `perform`, 130 when the user interrupts it.
 */
export const stagePlay = async (
  options: DemoOptions,
  io: CliIo,
  perform: (play: Play) => Promise<number>,
): Promise<number> => {
  const clock = systemClock();
  const stop = new AbortController();
  const user = io.stopOnSignals();
  user.addEventListener('abort', () => stop.abort(user.reason), { once: true });
  const directory = mkdtempSync(join(tmpdir(), 'dwd-demo-'));
  const logs = {
    ...(options.withProber ? { prober: join(directory, 'prober.log') } : {}),
    ...(options.withWeeder ? { weeder: join(directory, 'weeder.log') } : {}),
  };
  const backstage = { io, clock, directory, pace: options.pace, stop };
  const children: Child[] = [];
  let exitCode = 1;
  try {
    const since = clock.monotonic();
    const world = await raise(backstage, children);
    const careConfig = join(directory, 'care.yaml');
    writeFileSync(careConfig, demoCareConfig);
    const ask = asker(backstage, children);
    const isWatched = watchingIn(logs, world.shoots.length);
    const watched = connect(world, clock);
    children.push(...startWatchdogs(backstage, world, logs));
    exitCode = await perform({ ...options, ...backstage, since, world, watched, logs, isWatched, careConfig, ask });
    return exitCode;
  } catch (error) {
    if (!user.aborted) throw inWords(error);
    io.stdout('interrupted\n');
    exitCode = 130;
    return exitCode;
  } finally {
    for (const child of children.toReversed()) await child.end();
    if (exitCode === 1) tellLogs(logs, io);
    rmSync(directory, { recursive: true, force: true });
  }
};
