import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../src/ports/clock.ts';

/** This program, once more, in a process of its own. */
export interface Child {
  readonly process: ChildProcess;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  /** Asks it to end, and ends it after three seconds in any case. Resolves when it has ended. */
  end(): Promise<void>;
}

export interface ChildOptions {
  readonly args: readonly string[];
  readonly clock: Clock;
  /** Where stdout and stderr go: a file descriptor, or `pipe`. */
  readonly output: number | 'pipe';
  /** A temporary directory of the parent's. The child removes it when its parent has gone without doing so. */
  readonly directory: string;
}

const patienceMs = 3_000;

/** Ends a child whose parent has gone as a signal would: nothing outlives the demo. */
const leash = (directory: string): string =>
  [
    'import { rmSync } from "node:fs";',
    `const remove = () => rmSync(${JSON.stringify(directory)}, { recursive: true, force: true });`,
    // Another child may be at it.
    'const tryToRemove = () => { try { remove(); } catch {} };',
    'process.once("disconnect", () => { process.once("exit", tryToRemove); process.kill(process.pid, "SIGTERM"); });',
  ].join('\n');

/** The program's bundle stands beside the simulator's, which this is part of. */
const program = fileURLToPath(new URL('dwd.js', import.meta.url));

/** Starts `dwd` with other arguments. Signals of the terminal do not reach it: the caller ends it. */
export const startChild = ({ args, clock, output, directory }: ChildOptions): Child => {
  const child = fork(program, args, {
    detached: true,
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(leash(directory))}`],
    stdio: ['pipe', output, output, 'ipc'],
  });
  // It may be gone already when its stdin is closed.
  child.stdin?.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `ended with ${String(code)}` : `ended by ${signal}`),
    );
  });
  return {
    process: child,
    ended,
    end: async () => {
      child.stdin?.end();
      child.kill('SIGTERM');
      const cancel = clock.timer(patienceMs, () => child.kill('SIGKILL'));
      await ended;
      cancel();
    },
  };
};
