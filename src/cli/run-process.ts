import { constants } from 'node:os';
import type { Logger } from '../ports/logger.ts';
import { systemClock } from '../process/index.ts';
import { escapeControlsInLines } from '../telemetry/index.ts';
import type { CliIo } from './io.ts';
import { type OutputStream, createLogSink } from './log-sink.ts';
import { readInput, readText, readTextFile } from './read-text.ts';
import { type HostTerminal, createTerminal } from './terminal.ts';

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

type StopSignal = (typeof stopSignals)[number];

/** The members of Node's `process` that are used. Only main.ts may touch `process` itself. */
export interface HostProcess {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** True if stderr is a terminal. */
  readonly isAttended: boolean;
  /** Present if both stdin and stdout are a terminal. */
  readonly terminal?: HostTerminal;
  /** Runs a program without waiting for it, or for its failure. */
  readonly start: (program: string, args: readonly string[]) => void;
  readonly platform: string;
  onSignal(name: StopSignal, listener: () => void): void;
  /** Listens for uncaught exceptions and unhandled rejections. */
  onCrash(listener: (what: 'uncaught exception' | 'unhandled rejection', error: unknown) => void): void;
  /** Ends the process at once. */
  exit(code: number): void;
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

/** Returns the stack of a bug, but only the message of an error of the system. */
const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) === undefined ? (error.stack ?? error.message) : error.message;
};

/** Returns the exit code that a shell reports for a process killed by the signal. */
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

/** Moves the cursor to the start of the line and clears the line (EL of ECMA-48). */
const startOfClearLine = '\r\u001b[K';

/** Writes texts and, if stderr is a terminal, a line of progress that the next text replaces. */
const outputOn = ({ stdout, stderr, isAttended, env }: HostProcess) => {
  let showsProgress = false;
  const endProgress = (): void => {
    if (showsProgress) stderr.write(startOfClearLine);
    showsProgress = false;
  };
  const writeTo = (stream: OutputStream) => (text: string) => {
    endProgress();
    stream.write(text);
  };
  const progress = (line: string): void => {
    showsProgress = true;
    stderr.write(`${startOfClearLine}${line}`);
  };
  const texts = {
    stdout: (text: string) => writeTo(stdout)(escapeControlsInLines(text)),
    stderr: (text: string) => writeTo(stderr)(escapeControlsInLines(text)),
    stdoutStyled: writeTo(stdout),
    progress: isAttended && env.TERM !== 'dumb' ? progress : undefined,
  };
  return { texts, endProgress };
};

/** Time in milliseconds that the program waits at its end for the reader of its log. */
const logFlushMs = 300;

/** Returns the program that opens an address in the browser; undefined without a desktop. */
const openerOf = ({ platform, env, terminal }: HostProcess): readonly string[] | undefined => {
  if (terminal === undefined || env.SSH_CONNECTION !== undefined) return undefined;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY === undefined && env.WAYLAND_DISPLAY === undefined ? undefined : ['xdg-open'];
};

/** Prints a question and reads the answer. The first chunk is the whole answer, because a terminal delivers input line by line. */
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

/** Runs `run` and ends the process with the exit code that it returns, or with 1 after a bug, which is logged. */
export const runProcess = async (host: HostProcess, run: (io: CliIo) => Promise<number>): Promise<void> => {
  let crashLogger: Logger | undefined;
  const stderr = { isLog: false };
  const terminal = host.terminal === undefined ? undefined : createTerminal(host.terminal);
  // The terminal is restored at every exit, after a crash too.
  const exit = (code: number): void => {
    terminal?.restore();
    host.exit(code);
  };
  const crash = (what: string, error: unknown): void => {
    terminal?.restore();
    if (crashLogger === undefined) host.stderr.write(escapeControlsInLines(`dwd: ${what}: ${describeError(error)}\n`));
    else crashLogger.error(what, { error });
    exit(1);
  };
  host.onCrash((what, error) => crash(`${what}: this is a bug`, error));
  for (const stream of [host.stdout, host.stderr]) {
    stream.on('error', (error) => {
      if (stderr.isLog && stream === host.stderr) return;
      // The reader closed the pipe, as in `dwd help | head -1`. SIGPIPE would usually end the program, but Node ignores it.
      if (codeOf(error) === 'EPIPE') exit(statusOf('SIGPIPE'));
      else crash('output failed', error);
    });
  }
  const [opener, ...openerArgs] = openerOf(host) ?? [];
  const output = outputOn(host);
  const readFile = (path: string): Promise<string> => (path === '-' ? readText(host.stdin) : readTextFile(path));
  try {
    const exitCode = await run({
      argv: host.argv,
      env: host.env,
      nodeVersion: host.version,
      ...output.texts,
      terminal,
      ask: terminal && ((question: string) => askOn(host, question)),
      openInBrowser: opener === undefined ? undefined : (url) => host.start(opener, [...openerArgs, url.href]),
      readFile,
      readInput: (path) => readInput(path, readFile),
      openLog: (listeners) => {
        stderr.isLog = true;
        return createLogSink(host.stderr, listeners);
      },
      stopOnSignals: () => signalled({ onSignal: (name, listener) => host.onSignal(name, listener), exit }),
      reportCrashesTo: (logger) => {
        crashLogger = logger;
      },
    });
    output.endProgress();
    const logged = flushed(host.stderr);
    await Promise.all([flushed(host.stdout), stderr.isLog ? inTime(logged, logFlushMs) : logged]);
    // Exit at once: a socket to an API server that hangs, for example, would keep the event loop alive.
    exit(exitCode);
  } catch (error) {
    crash('unexpected error: this is a bug', error);
  }
};
