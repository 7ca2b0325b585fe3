import { constants } from 'node:os';
import type { Logger } from '../ports/logger.ts';
import { systemClock } from '../process/index.ts';
import { escapeControlsInLines } from '../telemetry/index.ts';
import type { CliIo, Progress } from './io.ts';
import { type OutputStream, createLogSink } from './log-sink.ts';
import { readText, readTextFile } from './read-text.ts';
import { type HostTerminal, createTerminal } from './terminal.ts';

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

type StopSignal = (typeof stopSignals)[number];

/** What is used of Node's `process`, which only main.ts may touch. */
export interface HostProcess {
  /** The program's own arguments. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** True if stderr is a terminal. */
  readonly isAttended: boolean;
  /** Present where both stdin and stdout are a terminal. */
  readonly terminal?: HostTerminal;
  onSignal(name: StopSignal, listener: () => void): void;
  /** Exceptions that nobody caught, and rejections that nobody handled. */
  onCrash(listener: (what: 'uncaught exception' | 'unhandled rejection', error: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

/** A stack is for bugs; where the system refuses something the message is enough. */
const inWords = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) === undefined ? (error.stack ?? error.message) : error.message;
};

/** That a shell gives a process that a signal killed. */
const statusOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

const signalled = (host: Pick<HostProcess, 'onSignal' | 'exit'>): AbortSignal => {
  const stop = new AbortController();
  for (const name of stopSignals) {
    host.onSignal(name, () => {
      if (stop.signal.aborted) host.exit(statusOf(name));
      else stop.abort(new Error(`received ${name}`));
    });
  }
  return stop.signal;
};

/** EL of ECMA-48: clears the line from its beginning. */
const startOfClearLine = '\r\u001b[K';

const progressOn = (stream: OutputStream): Progress => ({
  show: (line) => void stream.write(`${startOfClearLine}${line}`),
  clear: () => void stream.write(startOfClearLine),
});

/** Nobody waits longer than this for the reader of a log. */
const logFlushMs = 300;

/** In a terminal what is read comes line by line. */
const askOn = async ({ stdin, stdout }: HostProcess, question: string): Promise<string> => {
  stdout.write(question);
  for await (const line of stdin) return new TextDecoder().decode(line);
  // The end of input leaves the cursor behind the question.
  stdout.write('\n');
  return '';
};

const flushed = (stream: OutputStream): Promise<void> =>
  new Promise((resolve) => void stream.write('', () => resolve()));

const inTime = (ended: Promise<void>, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const cancel = systemClock().timer(ms, resolve);
    void ended.then(cancel).then(resolve);
  });

/** Runs `run` in the process and ends the process with the exit code that it returns; 1 after a bug, which is logged. */
export const runProcess = async (host: HostProcess, run: (io: CliIo) => Promise<number>): Promise<void> => {
  let crashLogger: Logger | undefined;
  const stderr = { isLog: false };
  const terminal = host.terminal === undefined ? undefined : createTerminal(host.terminal);
  // Whatever ends the program, its user gets the terminal back.
  const exit = (code: number): void => {
    terminal?.restore();
    host.exit(code);
  };
  const crash = (what: string, error: unknown): void => {
    terminal?.restore();
    if (crashLogger === undefined) host.stderr.write(escapeControlsInLines(`dwd: ${what}: ${inWords(error)}\n`));
    else crashLogger.error(what, { error });
    exit(1);
  };
  host.onCrash((what, error) => crash(`${what}: this is a bug`, error));
  for (const stream of [host.stdout, host.stderr]) {
    stream.on('error', (error) => {
      if (stderr.isLog && stream === host.stderr) return;
      // Who does not read on wants no more, as in `dwd help | head -1`: Node ignores the signal by which such a program usually ends.
      if (codeOf(error) === 'EPIPE') exit(statusOf('SIGPIPE'));
      else crash('output failed', error);
    });
  }
  try {
    const exitCode = await run({
      argv: host.argv,
      env: host.env,
      nodeVersion: host.version,
      stdout: (text) => void host.stdout.write(escapeControlsInLines(text)),
      stderr: (text) => void host.stderr.write(escapeControlsInLines(text)),
      stdoutStyled: (text) => void host.stdout.write(text),
      ...(host.isAttended && host.env.TERM !== 'dumb' ? { progress: progressOn(host.stderr) } : {}),
      ...(terminal === undefined ? {} : { terminal, ask: (question: string) => askOn(host, question) }),
      readFile: (path) => (path === '-' ? readText(host.stdin) : readTextFile(path)),
      openLog: (listeners) => {
        stderr.isLog = true;
        return createLogSink(host.stderr, listeners);
      },
      stopOnSignals: () => signalled({ onSignal: (name, listener) => host.onSignal(name, listener), exit }),
      reportCrashesTo: (logger) => {
        crashLogger = logger;
      },
    });
    const logged = flushed(host.stderr);
    await Promise.all([flushed(host.stdout), stderr.isLog ? inTime(logged, logFlushMs) : logged]);
    // Whatever still holds the event loop, a socket to an API server that hangs for one, must not delay the end.
    exit(exitCode);
  } catch (error) {
    crash('unexpected error: this is a bug', error);
  }
};
