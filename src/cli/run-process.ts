import { constants } from 'node:os';
import type { Logger } from '../ports/logger.ts';
import { systemClock } from '../process/index.ts';
import { escapeControlsInLines } from '../telemetry/index.ts';
import type { CliIo } from './io.ts';
import { type OutputStream, createLogSink } from './log-sink.ts';
import { readInput, readText, readTextFile } from './read-text.ts';

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The members of Node's `process` that are used. Only main.ts may touch `process` itself. */
export type HostProcess = Pick<
  NodeJS.Process,
  'argv' | 'env' | 'version' | 'platform' | 'stdin' | 'stdout' | 'stderr' | 'on' | 'exit'
>;

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

/** Returns the stack of a bug, but only the message of an error of the system. */
const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return codeOf(error) === undefined ? (error.stack ?? error.message) : error.message;
};

/** Returns the exit code that a shell reports for a process killed by the signal. */
const statusOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

const signalled = (host: HostProcess, exit: (code: number) => void): AbortSignal => {
  const stop = new AbortController();
  for (const name of stopSignals) {
    host.on(name, () => {
      if (stop.signal.aborted) exit(statusOf(name));
      else stop.abort(new Error(`received ${name}`));
    });
  }
  return stop.signal;
};

/** Moves the cursor to the start of the line and clears the line (EL of ECMA-48). */
const startOfClearLine = '\r\u001b[K';

/** Writes texts and, if stderr is a terminal, a line of progress that the next text replaces. */
const outputOn = ({ stdout, stderr, env }: HostProcess) => {
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
    progress: stderr.isTTY && env.TERM !== 'dumb' ? progress : undefined,
  };
  return { texts, endProgress };
};

/** Time in milliseconds that the program waits at its end for the reader of its log. */
const logFlushMs = 300;

/** Runs a program without waiting for it, or for its failure. */
type Start = (program: string, args: readonly string[]) => void;

const openerOf = ({ platform, env }: HostProcess): readonly [program: string, ...args: string[]] | undefined => {
  if (env.SSH_CONNECTION !== undefined) return undefined;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY === undefined && env.WAYLAND_DISPLAY === undefined ? undefined : ['xdg-open'];
};

/** Returns how to open an address in the browser; undefined without a desktop. */
const browserOf = (host: HostProcess, start: Start): CliIo['openInBrowser'] => {
  const opener = openerOf(host);
  if (opener === undefined) return undefined;
  const [program, ...args] = opener;
  return (url) => start(program, [...args, url.href]);
};

/** Prints a question and reads the answer. The first chunk is the whole answer, because a terminal delivers input line by line. */
const askOn = async ({ stdin, stdout }: HostProcess, question: string): Promise<string> => {
  stdout.write(question);
  for await (const line of stdin as AsyncIterable<Uint8Array>) return new TextDecoder().decode(line);
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
export const runProcess = async (
  host: HostProcess,
  start: Start,
  run: (io: CliIo) => Promise<number>,
): Promise<void> => {
  let crashLogger: Logger | undefined;
  const stderr = { isLog: false };
  const terminal = host.stdin.isTTY && host.stdout.isTTY ? host.stdout : undefined;
  const exit = (code: number): void => host.exit(code);
  const crash = (what: string, error: unknown): void => {
    if (crashLogger === undefined) host.stderr.write(escapeControlsInLines(`dwd: ${what}: ${describeError(error)}\n`));
    else crashLogger.error(what, { error });
    exit(1);
  };
  host.on('uncaughtException', (error) => crash('uncaught exception: this is a bug', error));
  host.on('unhandledRejection', (error) => crash('unhandled rejection: this is a bug', error));
  for (const stream of [host.stdout, host.stderr]) {
    stream.on('error', (error) => {
      if (stderr.isLog && stream === host.stderr) return;
      // The reader closed the pipe, as in `dwd help | head -1`. SIGPIPE would usually end the program, but Node ignores it.
      if (codeOf(error) === 'EPIPE') exit(statusOf('SIGPIPE'));
      else crash('output failed', error);
    });
  }
  const output = outputOn(host);
  const readFile = (path: string): Promise<string> => (path === '-' ? readText(host.stdin) : readTextFile(path));
  try {
    const exitCode = await run({
      argv: host.argv.slice(2),
      env: host.env,
      nodeVersion: host.version,
      ...output.texts,
      terminal,
      ask: terminal && ((question: string) => askOn(host, question)),
      openInBrowser: terminal && browserOf(host, start),
      readFile,
      readInput: (path) => readInput(path, readFile),
      openLog: (listeners) => {
        stderr.isLog = true;
        return createLogSink(host.stderr, listeners);
      },
      stopOnSignals: () => signalled(host, exit),
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
