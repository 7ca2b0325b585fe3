import { createReadStream } from 'node:fs';
import { constants } from 'node:os';
import type { Logger } from '../ports/index.ts';
import type { CliIo } from './io.ts';
import { readText } from './read-text.ts';
import { createTerminal, type HostTerminal } from './terminal.ts';

export interface OutputStream {
  write(text: string, done?: () => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/** What is used of Node's `process`, which only main.ts may touch. */
export interface HostProcess {
  /** The program's own arguments. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Present where both stdin and stdout are a terminal. */
  readonly terminal?: HostTerminal;
  onSignal(name: 'SIGTERM' | 'SIGINT', listener: () => void): void;
  /** Exceptions that nobody caught, and rejections that nobody handled. */
  onCrash(listener: (what: 'uncaught exception' | 'unhandled rejection', error: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

/** A stack is for bugs; what the system refused is told by its message. */
const inWords = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) === undefined ? (error.stack ?? error.message) : error.message;
};

const signalled = (host: Pick<HostProcess, 'onSignal' | 'exit'>): AbortSignal => {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    host.onSignal(name, () => {
      // The status that a shell gives a process that a signal killed.
      if (stop.signal.aborted) host.exit(128 + constants.signals[name]);
      else stop.abort(new Error(`received ${name}`));
    });
  }
  return stop.signal;
};

const flushed = (stream: OutputStream): Promise<void> => new Promise((resolve) => void stream.write('', resolve));

/** Runs `run` in the process and ends the process with the exit code that it returns; 1 after a bug, which is logged. */
export const runProcess = async (host: HostProcess, run: (io: CliIo) => Promise<number>): Promise<void> => {
  let crashLogger: Logger | undefined;
  const terminal = host.terminal === undefined ? undefined : createTerminal(host.terminal);
  // Whatever ends the program, its user gets the terminal back.
  const exit = (code: number): void => {
    terminal?.restore();
    host.exit(code);
  };
  const crash = (what: string, error: unknown): void => {
    terminal?.restore();
    if (crashLogger === undefined) host.stderr.write(`dwd: ${what}: ${inWords(error)}\n`);
    else crashLogger.error(what, { error });
    exit(1);
  };
  host.onCrash((what, error) => crash(`${what}: this is a bug`, error));
  for (const stream of [host.stdout, host.stderr]) {
    stream.on('error', (error) => {
      // The reader of a pipe may leave before the end, as in `dwd help | head -1`.
      if (codeOf(error) !== 'EPIPE') crash('output failed', error);
    });
  }
  try {
    const exitCode = await run({
      argv: host.argv,
      env: host.env,
      nodeVersion: host.version,
      stdout: (text) => void host.stdout.write(text),
      stderr: (text) => void host.stderr.write(text),
      ...(terminal === undefined ? {} : { terminal }),
      readFile: (path) => readText(path === '-' ? host.stdin : createReadStream(path)),
      stopOnSignals: () => signalled({ onSignal: (name, listener) => host.onSignal(name, listener), exit }),
      reportCrashesTo: (logger) => {
        crashLogger = logger;
      },
    });
    await Promise.all([flushed(host.stdout), flushed(host.stderr)]);
    // Whatever still holds the event loop, a socket to an API server that hangs for one, must not delay the end.
    exit(exitCode);
  } catch (error) {
    crash('unexpected error: this is a bug', error);
  }
};
