import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { waitFor } from './waiting.ts';

export interface ChildProcessOptions {
  /** Name for error messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** File to which stdout and stderr are appended. */
  readonly logFile: string;
  /** Directory that is removed if the test process dies without stopping this process. */
  readonly directory: string;
}

export interface StopOptions {
  /** By default `SIGTERM`; `SIGKILL` is a crash. */
  readonly signal?: 'SIGTERM' | 'SIGKILL';
  /** Time until `SIGKILL` follows, in milliseconds, by default 5000. */
  readonly withinMs?: number;
}

export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  readonly hasEnded: () => boolean;
  /** Returns the last 20 lines of the log. */
  readonly logTail: () => string;
  /** Ends the process. Resolves when it has ended. May be called again. */
  readonly stop: (options?: StopOptions) => Promise<void>;
}

/** Starts a process that does not outlive this one, however this one ends. Resolves when the process runs, not when it is ready. */
export async function startProcess(options: ChildProcessOptions): Promise<ManagedProcess> {
  const log = openSync(options.logFile, 'a');
  // In its own process group, so that Ctrl-C in a terminal reaches only the test runner, which then stops the processes in order.
  const child = spawn(options.command, options.args, { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  await once(child, 'spawn');
  const pid = child.pid!;
  const guard = startGuard(pid, options.directory);
  const ended = once(child, 'exit').then(() => endGuard(guard));
  child.unref();
  return {
    name: options.name,
    pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    logTail: () => readFileSync(options.logFile, 'utf8').trimEnd().split('\n').slice(-20).join('\n'),
    stop: (stop = {}) => stopChild(child, ended, stop),
  };
}

/** Polls until `probe` returns true. Fails at once, with the end of the log, if the process ends before that. */
export async function untilReady(started: ManagedProcess, probe: () => Promise<boolean>): Promise<void> {
  const attempt = async () => {
    if (started.hasEnded()) throw new Error('ended early');
    return await probe();
  };
  try {
    await waitFor({ what: 'ready' }, attempt);
  } catch (error) {
    throw new Error(`${started.name}: ${(error as Error).message}; its log ends with\n${started.logTail()}`, {
      cause: error,
    });
  }
}

/** Test files that run at the same time use different ranges, because a port may be given out before anything listens on it. */
const [firstPort, portCount] = [15_000 + 1_000 * (Number(process.env.VITEST_POOL_ID ?? 0) % 15), 1_000];
let nextPort = randomInt(portCount);

/**
 * Returns ports on 127.0.0.1 on which nothing listens. They are below the range of ephemeral ports of operating systems, so that a port
 * is still free when a stopped server starts again. No port is given out twice.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = firstPort + (nextPort % portCount);
    nextPort += 1;
    const server = createServer();
    if (!(await listens(server, port))) continue;
    held.push(server);
    ports.push(port);
  }
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
}

async function stopChild(child: ChildProcess, ended: Promise<void>, options: StopOptions): Promise<void> {
  child.ref();
  child.kill(options.signal ?? 'SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), options.withinMs ?? 5000);
  await ended;
  clearTimeout(late);
}

/**
 * Starts a shell that waits for the end of its input, which comes when this process ends, even by SIGKILL, when no exit handler runs.
 * Test runners kill workers that way, and each leftover process takes 300 MB.
 */
function startGuard(pid: number, directory: string): ChildProcess {
  const script = 'read -r _; kill -KILL "$1" 2>/dev/null; sleep 0.3; rm -rf -- "$2"';
  const guard = spawn('/bin/sh', ['-c', script, 'envtest-guard', String(pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as unknown as { unref: () => void }).unref();
  return guard;
}

async function endGuard(guard: ChildProcess): Promise<void> {
  if (guard.exitCode !== null || guard.signalCode !== null) return;
  guard.ref();
  const gone = once(guard, 'exit');
  guard.kill('SIGKILL');
  await gone;
}
