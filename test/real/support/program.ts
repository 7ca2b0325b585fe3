import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../../bin/dwd', import.meta.url));
const bundle = fileURLToPath(new URL('../../../dist/dwd.js', import.meta.url));

/** A running `dwd`. */
export interface Program {
  readonly pid: number;
  /** Returns all output so far, of both streams. */
  readonly output: () => string;
  /** Returns the output on standard output. */
  stdout(): string;
  stderr(): string;
  /** Returns the parsed log lines. */
  lines(): readonly LogLine[];
  signal(name: NodeJS.Signals): void;
  /** Writes to its standard input, if that is a pipe. */
  type(keys: string): void;
  /** Resolves to the exit code or the signal's name when it has ended. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

export interface LogLine {
  readonly msg?: string;
  readonly level?: string;
  readonly [field: string]: unknown;
}

/** Parses a log line. A line that is not JSON becomes the message. */
const parseLine = (line: string): LogLine => {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { msg: line };
  }
};

/** Returns a reader of a growing log. It parses each complete line once, because tests call it several times a second. */
const followLog = (text: () => string): (() => readonly LogLine[]) => {
  const lines: LogLine[] = [];
  let end = 0;
  return () => {
    const now = text();
    const next = now.lastIndexOf('\n') + 1;
    for (const line of now.slice(end, next).split('\n')) if (line !== '') lines.push(parseLine(line));
    end = Math.max(end, next);
    const rest = now.slice(end);
    return rest === '' ? [...lines] : [...lines, parseLine(rest)];
  };
};

/** Collects the output of a child with pipes. Kills the child when the test process ends. */
export const superviseProcess = (child: ChildProcess): Program => {
  let [text, out, err] = ['', '', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    const read = chunk.toString();
    [text, out] = [text + read, out + read];
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    const read = chunk.toString();
    [text, err] = [text + read, err + read];
  });
  child.stdin?.on('error', () => undefined);
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.removeListener('exit', kill);
      resolve(code ?? signal ?? -1);
    });
  });
  return {
    pid: child.pid ?? -1,
    output: () => text,
    stdout: () => out,
    stderr: () => err,
    lines: followLog(() => text),
    signal: (name) => void child.kill(name),
    type: (keys) => void child.stdin?.write(keys),
    ended,
  };
};

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Another program, with its first arguments. */
  readonly command?: readonly string[];
}

const ours: readonly string[] = [process.execPath, launcher];

/** Starts the built program as a process, which is killed when the test process ends. */
export const startProgram = (args: readonly string[], { env = {}, command = ours }: ProgramOptions = {}): Program => {
  if (!existsSync(bundle)) throw new Error('dist/dwd.js is missing: run `make build` first');
  const [file = '', ...first] = command;
  return superviseProcess(
    spawn(file, [...first, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
};
