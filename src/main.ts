import { createReadStream } from 'node:fs';
import { constants } from 'node:os';
import { type CliIo, readText, runCli } from './cli/index.ts';
import type { Logger } from './ports/index.ts';

let crashLogger: Logger | undefined;

const crash =
  (what: string) =>
  (error: unknown): void => {
    if (crashLogger === undefined) {
      process.stderr.write(
        `dwd: ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
      );
    } else {
      crashLogger.error(what, { error });
    }
    process.exit(1);
  };

process.on('uncaughtException', crash('uncaught exception: this is a bug'));
process.on('unhandledRejection', crash('unhandled rejection: this is a bug'));

for (const stream of [process.stdout, process.stderr]) {
  // The reader of a pipe may leave before the end, as in `dwd help | head -1`.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') crash('output failed')(error);
  });
}

const stopOnSignals = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      // The status that a shell gives a process killed by the signal.
      if (stop.signal.aborted) process.exit(128 + constants.signals[name]);
      stop.abort(new Error(`received ${name}`));
    });
  }
  return stop.signal;
};

const io: CliIo = {
  argv: process.argv.slice(2),
  env: process.env,
  nodeVersion: process.version,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  readFile: (path) => readText(path === '-' ? process.stdin : createReadStream(path)),
  stopOnSignals,
  reportCrashesTo: (logger) => {
    crashLogger = logger;
  },
};

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });

const exitCode = await runCli(io, {
  // Loaded when it is needed: `dwd help` has no use for a Kubernetes client.
  runProber: async (options) => (await import('./app/index.ts')).runProber(options),
});
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
// Whatever still holds the event loop, a socket to an API server that hangs for one, must not delay the end.
process.exit(exitCode);
