import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CliIo, CommandError } from '../../src/cli/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/process/index.ts';
import { type ProberStatus, statusSchema } from '../../src/status/state/schema.ts';
import { type About, demoProberConfig, demoWeederConfig, openWorld } from '../demo/index.ts';
import { type World, type WorldSource, technicalName } from '../world/index.ts';

/** Another instance of this program, as a child process. */
interface Child {
  /** Resolves when the process has ended, with the way it ended as text. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after three seconds. Resolves when the process has ended. */
  end(): Promise<void>;
}

interface ChildOptions {
  readonly args: readonly string[];
  readonly clock: Clock;
  /** File descriptor of the target of stdout and stderr. */
  readonly output: number;
  /** Temporary directory of the parent. The child removes it if its parent ends without doing so. */
  readonly directory: string;
}

const patienceMs = 3_000;

/** Source of a module that sends SIGTERM to the child itself when its parent is gone, so that no process outlives the demo. */
const leash = (directory: string): string =>
  [
    'import { rmSync } from "node:fs";',
    `const remove = () => rmSync(${JSON.stringify(directory)}, { recursive: true, force: true });`,
    // Another child may be removing it at the same time.
    'const tryToRemove = () => { try { remove(); } catch {} };',
    'const end = () => process.kill(process.pid, "SIGTERM");',
    // A child that has not begun to handle signals would be gone without an exit.
    'const stop = () => (process.listenerCount("SIGTERM") > 0 ? end() : process.exit(1));',
    'process.once("disconnect", () => { process.once("exit", tryToRemove); stop(); });',
  ].join('\n');

/** The program's bundle, in the folder of the simulator's bundle, which contains this file. */
const program = fileURLToPath(new URL('dwd.js', import.meta.url));

/** Starts `dwd` with other arguments. Signals of the terminal do not reach the child: the caller ends it. */
const startChild = ({ args, clock, output, directory }: ChildOptions): Child => {
  const child = fork(program, args, {
    detached: true,
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(leash(directory))}`],
    stdio: ['ignore', output, output, 'ipc'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `ended with ${String(code)}` : `ended by ${signal}`),
    );
  });
  return {
    ended,
    end: async () => {
      child.kill('SIGTERM');
      const cancel = clock.timer(patienceMs, () => child.kill('SIGKILL'));
      await ended;
      cancel();
    },
  };
};

/** The seed of the demo. */
export interface DemoOptions {
  /** Cluster source of the simulated seed. */
  readonly source: WorldSource;
  /** Number of shoots in the seed. */
  readonly shoots: number;
}

/** The world in this process, and the watchdogs, each in its own. */
export interface DemoProcesses {
  readonly clock: Clock;
  readonly world: World;
  /** Asks the prober for its status, of one shoot or of all. Rejects while the prober does not serve it. */
  readonly askStatus: (shoot: string | undefined, signal: AbortSignal) => Promise<ProberStatus>;
  /** Paths of the demo's files, and other facts about it. */
  readonly about: About;
  /** Aborts, with the reason, when the demo must end early. */
  readonly stop: AbortController;
}

const watchdogs = ['prober', 'weeder'] as const;

/** Path of the log file of each watchdog. */
type Logs = Readonly<Record<(typeof watchdogs)[number], string>>;

/** Values that all processes of the demo share. */
interface ProcessContext {
  readonly clock: Clock;
  /** Temporary directory for all files of the demo. */
  readonly directory: string;
  readonly stop: AbortController;
  readonly source: World['source'];
  readonly shoots: number;
  /** All child processes, the oldest first. */
  readonly children: Child[];
}

const startWatchdogs = (context: ProcessContext, kubeconfig: string, logs: Logs): void => {
  const { source, directory, stop, children } = context;
  const configs = { prober: demoProberConfig(source), weeder: demoWeederConfig };
  for (const name of watchdogs) {
    const file = join(directory, `${name}.yaml`);
    writeFileSync(file, configs[name]);
    const health = name === 'prober' ? '127.0.0.1:0' : '0';
    const flags = ['--metrics-bind-addr=0', `--health-bind-addr=${health}`];
    const args = [name, `--config-file=${file}`, `--kubeconfig=${kubeconfig}`, ...flags];
    const child = startChild({ ...context, args, output: openSync(logs[name], 'a', 0o600) });
    children.push(child);
    // The demo ends if a watchdog ends before it.
    void child.ended.then((how) => stop.abort(new CommandError(`the ${name} ${how} before the end of the demo`)));
  }
};

/** Creates a function that returns the complete lines that were added to the file since its last call. */
const follow = (path: string): (() => readonly string[]) => {
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

const askStatusBy = (readLog: () => readonly string[]): DemoProcesses['askStatus'] => {
  let port: number | undefined;
  return async (shoot, signal) => {
    port ??= statusPortIn(readLog());
    if (port === undefined) throw new Error('the prober does not serve its status yet');
    const query = shoot === undefined ? '' : `?shoot=${encodeURIComponent(shoot)}`;
    const answer = await fetch(`http://127.0.0.1:${String(port)}/status${query}`, { signal });
    if (!answer.ok) throw new Error(`the prober responds with ${String(answer.status)}`);
    return statusSchema.parse(await answer.json());
  };
};

const tellLogs = (logs: Logs, io: CliIo): void => {
  for (const [name, log] of Object.entries(logs)) {
    io.stderr(`the ${name}'s log:\n${existsSync(log) ? readFileSync(log, 'utf8') : '(there is none)\n'}`);
  }
};

/** Starts the watchdogs in the world, with all files in the demo's directory. */
const begin = (
  context: ProcessContext,
  { world, kubeconfigs }: Pick<Awaited<ReturnType<typeof openWorld>>, 'world' | 'kubeconfigs'>,
  logs: Logs,
): DemoProcesses => {
  const { directory, source, shoots } = context;
  const save = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const [seed = '', ...others] = Array.from(kubeconfigs, ([name, content]) => save(`${name}.kubeconfig`, content));
  startWatchdogs(context, seed, logs);
  const askStatus = askStatusBy(follow(logs.prober));
  return {
    ...context,
    ...{ world, askStatus },
    about: {
      ...{ source, shoots },
      seedKubeconfig: seed,
      shootKubeconfigs: others,
      cluster: technicalName('charlie'),
    },
  };
};

/**
 * Starts the world and the watchdogs, calls `run` with them, and in any case ends them and removes all files. Resolves
 * with the exit code of `run`, or 130 if the user interrupts it.
 */
export const withProcesses = async (
  { source, shoots }: DemoOptions,
  io: CliIo,
  run: (processes: DemoProcesses) => Promise<number>,
): Promise<number> => {
  const stop = new AbortController();
  const user = io.stopOnSignals();
  user.addEventListener('abort', () => stop.abort(user.reason), { once: true });
  const directory = mkdtempSync(join(tmpdir(), 'dwd-demo-'));
  const logs: Logs = { prober: join(directory, 'prober.log'), weeder: join(directory, 'weeder.log') };
  const children: Child[] = [];
  const clock = systemClock();
  const served = await openWorld({ clock, source, shoots });
  let exitCode = 1;
  try {
    exitCode = await run(begin({ clock, directory, source, shoots, stop, children }, served, logs));
  } catch (error) {
    if (!user.aborted) throw error;
    io.stdout('interrupted\n');
    exitCode = 130;
  } finally {
    for (const child of children.toReversed()) await child.end();
    await served.close();
    if (exitCode === 1) tellLogs(logs, io);
    rmSync(directory, { recursive: true, force: true });
  }
  return exitCode;
};
