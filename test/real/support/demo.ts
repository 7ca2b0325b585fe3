import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type WaitAttempt, waitFor } from '../../envtest/waiting.ts';

const dwd = fileURLToPath(new URL('../../../bin/dwd', import.meta.url));

/** A run of `dwd demo`, or of a program that runs it. */
export interface Show {
  readonly process: ChildProcess;
  /** Directory of its temporary files. */
  readonly directory: string;
  /** Returns everything that it has printed. */
  output(): string;
  readonly exit: Promise<number | null>;
}

const shows: Show[] = [];

type Env = Readonly<Record<string, string | undefined>>;

const start = (command: string, args: readonly string[], env: Env = {}): Show => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-demo-test-'));
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: directory, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
  });
  child.stdin.on('error', () => undefined);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const show = { process: child, directory, output: () => text, exit };
  shows.push(show);
  return show;
};

/** Starts the demo without a terminal. */
export const startDemo = (...args: readonly string[]): Show => start(process.execPath, [dwd, 'demo', ...args]);

const startInTerminal = (args: readonly string[], env: Env): Show => {
  const command = ['stty cols 80 rows 24; exec', process.execPath, dwd, ...args].join(' ');
  return start('script', ['--quiet', '--return', '--command', command, '/dev/null'], env);
};

/** Starts the demo in a terminal of 80 columns and 24 rows, made by util-linux's `script`. Text written to its stdin arrives as keys. */
export const startDemoInTerminal = (...args: readonly string[]): Show => startInTerminal(['demo', ...args], {});

/** Starts `dwd` with any arguments in such a terminal, with colours. `CI` is unset: with it, Node assumes that a terminal has no colours. */
export const startInColour = (...args: readonly string[]): Show =>
  startInTerminal(args, { NO_COLOR: undefined, CI: undefined, TERM: 'xterm' });

export const endDemos = async (): Promise<void> => {
  for (const { process: child, directory, exit } of shows) {
    child.kill('SIGKILL');
    await exit;
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Waits for a condition. */
export const until = (condition: WaitAttempt<true>, what: string): Promise<true> =>
  waitFor({ what, everyMs: 100 }, condition);

/** Returns the files and directories that the demo has left. */
export const leftovers = ({ directory }: Show): readonly string[] => readdirSync(directory);

/** Returns the processes that the demo has started: their arguments contain its directory. */
export const processes = ({ directory }: Show): readonly string[] =>
  execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(directory));

/** Returns the pid of the child of the started process. */
export const childOf = ({ process: { pid } }: Show): number =>
  Number(execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' }));

/** Opens the watchdogs' logs, beside the printed kubeconfigs. Because they are open, they can be read after the demo has removed them. */
export const openLogs = (show: Show): readonly { readonly read: () => string }[] => {
  const [, directory = ''] = /^ {2}(\S+)\/alpha\.kubeconfig$/m.exec(show.output()) ?? [];
  return ['prober', 'weeder'].map((name) => {
    const file = openSync(join(directory, `${name}.log`), 'r');
    return { read: () => readFileSync(file, 'utf8') };
  });
};

export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
