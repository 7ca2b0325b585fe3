import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type WaitAttempt, type Wait, waitFor } from '../../test/envtest/waiting.ts';
import { proberFlags } from './garden-config.ts';

const launcher = fileURLToPath(new URL('../../bin/dwd', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/dwd.js', import.meta.url));

/** A program to measure. `command` is a shell command, to which the component's name and flags are appended. */
export interface Target {
  readonly name: string;
  readonly command: string;
}

const shellWord = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The program of that command; without one that of this checkout, run by the Node that runs the benchmark. Throws if it is not built. */
export const targetOf = (command: string | undefined): Target => {
  if (command !== undefined) return { name: 'target', command };
  if (!existsSync(bundle)) throw new Error('dist/dwd.js is missing: run `make build` first');
  return { name: 'dwd', command: `${shellWord(process.execPath)} ${shellWord(launcher)}` };
};

export interface ProcessStart {
  readonly component: 'prober' | 'weeder';
  readonly config: string;
  readonly kubeconfig: string;
  /** Directory for the program's files and its output. */
  readonly directory: string;
  /** Flags in addition to gardenlet's. */
  readonly flags?: readonly string[];
}

export interface RunningTarget {
  readonly pid: number;
  hasEnded(): boolean;
  /** Throws if the program has ended. */
  check(): void;
  /** Output of the program, both streams. */
  output(): string;
  /** Last part of the output. */
  tail(): string;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the program has ended, for any reason. */
  readonly ended: Promise<void>;
  /** Sends SIGTERM, and SIGKILL after 10 s. A stopped process is continued first, so that it can end. */
  stop(): Promise<void>;
}

/** As in the chart. Else V8 lets its young generation grow to 96 MB, when it likes, and the peak of memory shows little else. */
const nodeOptions = '--max-semi-space-size=8';

const graceMs = 10_000;
/** Number of characters of the output that an error includes. */
const tailLength = 3_000;

/** Writes a component's files into the directory and returns its arguments: gardenlet's flags, with its servers disabled. */
const argumentsOf = ({ component, config, kubeconfig, directory, flags = [] }: ProcessStart): readonly string[] => {
  const file = (name: string): string => join(directory, `${component}.${name}`);
  writeFileSync(file('yaml'), config);
  writeFileSync(file('kubeconfig'), kubeconfig, { mode: 0o600 });
  const files = [`--config-file=${file('yaml')}`, `--kubeconfig=${file('kubeconfig')}`];
  const own = component === 'prober' ? proberFlags : [];
  return [component, ...files, ...own, '--metrics-bind-addr=0', '--health-bind-addr=0', ...flags];
};

/** Starts the target, which ends with this process at the latest. */
export const startTarget = (target: Target, start: ProcessStart): RunningTarget => {
  const args = argumentsOf(start);
  const outputFile = join(start.directory, `${start.component}.output`);
  const output = openSync(outputFile, 'w');
  const script = `exec ${target.command} "$@"`;
  const child = spawn('/bin/sh', ['-c', script, target.name, ...args], {
    stdio: ['ignore', output, output],
    env: { ...process.env, NODE_OPTIONS: nodeOptions },
  });
  closeSync(output);
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const read = (): string => readFileSync(outputFile, 'utf8');
  const tail = (): string => read().slice(-tailLength);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const ended = once(child, 'exit').then(() => void process.removeListener('exit', kill));
  return {
    pid: child.pid ?? -1,
    hasEnded,
    check: () => {
      if (!hasEnded()) return;
      throw new Error(
        `${target.name} has ended (${String(child.exitCode ?? child.signalCode)}); its output ends with\n${tail()}`,
      );
    },
    output: read,
    tail,
    signal: (name) => void child.kill(name),
    ended,
    stop: async () => {
      if (hasEnded()) return;
      child.kill('SIGTERM');
      child.kill('SIGCONT');
      const timer = setTimeout(kill, graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
};

/** Like `waitFor`, by default every 500 ms. Its error reports that the program ended, or includes the last part of the output. */
export const waitForTarget = <T>(program: RunningTarget, wait: Wait, attempt: WaitAttempt<T>): Promise<T> =>
  waitFor({ everyMs: 500, ...wait }, () => {
    program.check();
    return attempt();
  }).catch((error: unknown) => {
    program.check();
    throw new Error(`${String(error)}; its output ends with\n${program.tail()}`, { cause: error });
  });
