import { statusSchema } from '../../src/status/state/schema.ts';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type CliIo, CommandError, version } from '../../src/cli/index.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';
import type { KubeClient } from '../../src/kubernetes/api/kube.ts';
import { createShootConnector } from '../../src/kubernetes/connection/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/process/index.ts';
import {
  type About,
  type Watchdogs,
  type Pace,
  StatusSource,
  demoCareConfig,
  demoProberConfig,
  demoWeederConfig,
  demoShoots,
  quietShoot,
} from '../demo/index.ts';
import { type Child, type ChildOptions, startChild } from './child.ts';
import type { WorldSource } from '../world/index.ts';
import type { WorldReport } from './serve-world.ts';

/** Time limit for the start of the world's process. */
const startLimitMs = 20_000;

export interface DemoOptions extends Watchdogs {
  readonly pace: Pace;
}

/** The world and the watchdogs, each in its own process. */
export interface DemoProcesses {
  readonly clock: Clock;
  readonly source: StatusSource;
  /** Returns the body of the prober's `GET /status` with this query. Rejects while the prober does not serve it. */
  readonly askStatus: (query: string, signal: AbortSignal) => Promise<string>;
  /** Paths of the demo's files, and other facts about it. */
  readonly about: About;
  /** Runs this program with these arguments and returns its stdout. Rejects unless it exits with one of `codes`. */
  readonly runOnce: (args: readonly string[], codes: readonly number[]) => Promise<string>;
  /** Aborts, with the reason, when the demo must end early. */
  readonly stop: AbortController;
}

type Watchdog = 'prober' | 'weeder';

/** Path of the log file of each running watchdog. */
type Logs = ReadonlyMap<Watchdog, string>;

/** Values that all processes of the demo share. */
interface ProcessContext {
  readonly clock: Clock;
  /** Temporary directory for all files of the demo. */
  readonly directory: string;
  readonly pace: Pace;
  readonly stop: AbortController;
  readonly source: WorldSource;
  readonly shoots: number;
  /** All child processes, the oldest first. */
  readonly children: Child[];
}

const start = (context: ProcessContext, args: readonly string[], output: ChildOptions['output']): Child => {
  const child = startChild({ ...context, args, output });
  context.children.push(child);
  return child;
};

/** Ends the demo if the child ends before it. */
const watchOver = (child: Child, name: string, { stop }: ProcessContext): void => {
  void child.ended.then((how) => stop.abort(new CommandError(`the ${name} ${how} before the end of the demo`)));
};

const readAll = async (stream: AsyncIterable<Buffer> | null): Promise<string> => (stream === null ? '' : text(stream));

/** Returns the child's output up to at least the first line break. Rejects if the child ends before that. */
const firstLine = async ({ process: { stdout, stderr }, ended }: Child): Promise<string> => {
  const errors = readAll(stderr);
  let printed = '';
  for await (const chunk of (stdout ?? []) as AsyncIterable<Buffer>) {
    printed += chunk.toString();
    if (printed.includes('\n')) return printed;
  }
  throw new CommandError(`the world ${await ended}\n${await errors}`);
};

const startWorld = async (context: ProcessContext): Promise<WorldReport> => {
  const { clock, directory, pace, source, shoots, stop } = context;
  const flags = [`--source=${source}`, `--shoots=${String(shoots)}`, ...(pace === 'script' ? ['--script'] : [])];
  const args = ['demo', `--serve-world=${directory}`, ...flags];
  const child = start(context, args, 'pipe');
  const isServed = new AbortController();
  const limit = clock.sleep(startLimitMs, AbortSignal.any([stop.signal, isServed.signal])).then(() => {
    throw new CommandError('the world did not start in time');
  });
  try {
    const line = await Promise.race([firstLine(child), limit]);
    watchOver(child, 'world', context);
    return JSON.parse(line) as WorldReport;
  } finally {
    isServed.abort();
  }
};

const startWatchdogs = (context: ProcessContext, { seed }: WorldReport, logs: Logs): void => {
  const configs = { prober: demoProberConfig(context.pace, context.source), weeder: demoWeederConfig };
  for (const [name, log] of logs) {
    const file = join(context.directory, `${name}.yaml`);
    writeFileSync(file, configs[name]);
    const health = name === 'prober' ? '127.0.0.1:0' : '0';
    const flags = [
      `--config-file=${file}`,
      `--kubeconfig=${seed}`,
      '--metrics-bind-addr=0',
      `--health-bind-addr=${health}`,
    ];
    watchOver(start(context, [name, ...flags], openSync(log, 'a', 0o600)), name, context);
  }
};

/** Creates a function that returns the complete lines that were added to the file since its last call. */
const follow = (path: string | undefined): (() => readonly string[]) | undefined => {
  if (path === undefined) return undefined;
  let read = 0;
  return () => {
    const added = readFileSync(path).subarray(read);
    const whole = added.subarray(0, added.lastIndexOf('\n') + 1);
    read += whole.length;
    return whole.toString().split('\n').slice(0, -1);
  };
};

/** Finds the port of the prober's health server in its log lines; undefined if they do not report it. */
const statusPortIn = (lines: readonly string[]): number | undefined =>
  lines.flatMap((line) => {
    const { msg, server, port } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return msg === 'listening' && server === 'health server' && typeof port === 'number' ? [port] : [];
  })[0];

const askStatusBy = (readLog: () => readonly string[] = () => []): DemoProcesses['askStatus'] => {
  let port: number | undefined;
  return async (query, signal) => {
    port ??= statusPortIn(readLog());
    if (port === undefined) throw new Error('the prober does not serve its status yet');
    const answer = await fetch(`http://127.0.0.1:${String(port)}/status${query}`, { signal });
    if (!answer.ok) throw new Error(`the prober responds with ${String(answer.status)}`);
    return answer.text();
  };
};

interface Watched {
  readonly logs: Logs;
  readonly readStatus: ConstructorParameters<typeof StatusSource>[0]['readStatus'];
}

const connect = (
  world: WorldReport,
  { clock, pace, source }: ProcessContext,
  { logs, readStatus }: Watched,
): StatusSource => {
  const connector = createShootConnector({ clock, userAgent: `dependency-watchdog-demo/${version}` });
  const clientFor = (path: string): KubeClient => connector.clientFor(readFileSync(path, 'utf8')).client;
  return new StatusSource({
    seed: clientFor(world.seed),
    shoots: world.shoots.map(({ kubeconfig, ...shoot }) => ({ ...shoot, client: clientFor(kubeconfig) })),
    clock,
    pace,
    source,
    readStatus,
    readWeederLog: follow(logs.get('weeder')),
  });
};

const runOnce =
  (context: ProcessContext): DemoProcesses['runOnce'] =>
  async (args, codes) => {
    const { process: child, ended } = start(context, args, 'pipe');
    const [output, errors, how] = await Promise.all([readAll(child.stdout), readAll(child.stderr), ended]);
    if (codes.includes(child.exitCode ?? -1)) return output;
    throw new CommandError(`dwd ${args[0] ?? ''} ${how}\n${errors}`.trimEnd());
  };

const inWords = (error: unknown): unknown =>
  error instanceof ApiError ? new CommandError(`the simulated world does not respond: ${error.message}`) : error;

const tellLogs = (logs: Logs, io: CliIo): void => {
  for (const [name, log] of logs) {
    io.stderr(`the ${name}'s log:\n${existsSync(log) ? readFileSync(log, 'utf8') : '(there is none)\n'}`);
  }
};

const begin = async (context: ProcessContext, logs: Logs): Promise<DemoProcesses> => {
  const { directory, pace, source, shoots } = context;
  const world = await startWorld(context);
  const careConfig = join(directory, 'care.yaml');
  writeFileSync(careConfig, demoCareConfig);
  startWatchdogs(context, world, logs);
  const about = {
    pace,
    source,
    shoots,
    seedKubeconfig: world.seed,
    shootKubeconfigs: world.shoots.map(({ kubeconfig }) => kubeconfig),
    careConfig,
    cluster: world.shoots.find(({ name }) => name === quietShoot)?.namespace ?? '',
  };
  const askStatus = askStatusBy(follow(logs.get('prober')));
  const readStatus = logs.has('prober')
    ? async (signal: AbortSignal) =>
        askStatus('', signal).then(
          (body) => statusSchema.parse(JSON.parse(body)),
          () => undefined,
        )
    : undefined;
  return {
    ...context,
    source: connect(world, context, { logs, readStatus }),
    askStatus,
    about,
    runOnce: runOnce(context),
  };
};

/**
 * Starts the world and the watchdogs, calls `run` with them, and in any case ends them and removes all files. Resolves
 * with the exit code of `run`, or 130 if the user interrupts it.
 */
export const withProcesses = async (
  { pace, withProber, withWeeder, source = 'gardener', shoots = demoShoots.length }: DemoOptions,
  io: CliIo,
  run: (processes: DemoProcesses) => Promise<number>,
): Promise<number> => {
  const stop = new AbortController();
  const user = io.stopOnSignals();
  user.addEventListener('abort', () => stop.abort(user.reason), { once: true });
  const directory = mkdtempSync(join(tmpdir(), 'dwd-demo-'));
  const running: readonly Watchdog[] = [
    ...(withProber ? ['prober' as const] : []),
    ...(withWeeder ? ['weeder' as const] : []),
  ];
  const logs = new Map(running.map((name) => [name, join(directory, `${name}.log`)]));
  const children: Child[] = [];
  let exitCode = 1;
  try {
    exitCode = await run(await begin({ clock: systemClock(), directory, pace, source, shoots, stop, children }, logs));
  } catch (error) {
    if (!user.aborted) throw inWords(error);
    io.stdout('interrupted\n');
    exitCode = 130;
  } finally {
    for (const child of children.toReversed()) await child.end();
    if (exitCode === 1) tellLogs(logs, io);
    rmSync(directory, { recursive: true, force: true });
  }
  return exitCode;
};
