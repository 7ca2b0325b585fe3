import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../src/ports/clock.ts';

/** Another instance of this program, as a child process. */
export interface Child {
  readonly process: ChildProcess;
  /** Resolves when the process has ended, with the way it ended as text. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after three seconds. Resolves when the process has ended. */
  end(): Promise<void>;
}

export interface ChildOptions {
  readonly args: readonly string[];
  readonly clock: Clock;
  /** Target of stdout and stderr: a file descriptor, or `pipe`. */
  readonly output: number | 'pipe';
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
    'process.once("disconnect", () => { process.once("exit", tryToRemove); process.kill(process.pid, "SIGTERM"); });',
  ].join('\n');

/** The program's bundle, in the folder of the simulator's bundle, which contains this file. */
const program = fileURLToPath(new URL('dwd.js', import.meta.url));

/** Starts `dwd` with other arguments. Signals of the terminal do not reach the child: the caller ends it. */
export const startChild = ({ args, clock, output, directory }: ChildOptions): Child => {
  const child = fork(program, args, {
    detached: true,
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(leash(directory))}`],
    stdio: ['pipe', output, output, 'ipc'],
  });
  // The child may have ended already when its stdin is closed.
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
