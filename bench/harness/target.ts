import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/process/clock.ts';
import { type WaitAttempt, type Wait, waitFor } from '../../test/envtest/waiting.ts';
import { proberFlags } from './garden-config.ts';

const launcher = fileURLToPath(new URL('../../bin/dwd', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/dwd.js', import.meta.url));

/** A program under measurement: words of a shell, to which the component's name and its flags are added. */
export interface Target {
  readonly name: string;
  readonly command: string;
}

/** The word as a shell takes it, whatever is in it. */
export const shellWord = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The program of this checkout, on the Node that runs the benchmark. */
export const ownTarget = (): Target => {
  if (!existsSync(bundle)) throw new Error('dist/dwd.js is missing: run `make build` first');
  return { name: 'dwd', command: `${shellWord(process.execPath)} ${shellWord(launcher)}` };
};

export interface ProcessStart {
  readonly component: 'prober' | 'weeder' | 'care';
  readonly config: string;
  readonly kubeconfig: string;
  /** For its files; its output too. */
  readonly directory: string;
  /** Beside gardenlet's. */
  readonly flags?: readonly string[];
}

export interface RunningTarget {
  readonly pid: number;
  hasEnded(): boolean;
  /** Throws when it has ended by itself. */
  check(): void;
  /** What it wrote, both streams. */
  output(): string;
  /** The end of it. */
  tail(): string;
  signal(name: NodeJS.Signals): void;
  /** Resolves once it has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** SIGTERM, and SIGKILL after 10 s. A stopped process goes on for it. */
  stop(): Promise<void>;
}

const graceMs = 10_000;
/** Of its output, in an error. */
const tailLength = 3_000;

/** Writes the files of a component into the directory, and returns its arguments: gardenlet's flags, its servers switched off. */
export const targetArgs = ({
  component,
  config,
  kubeconfig,
  directory,
  flags = [],
}: ProcessStart): readonly string[] => {
  const file = (name: string): string => join(directory, `${component}.${name}`);
  writeFileSync(file('yaml'), config);
  writeFileSync(file('kubeconfig'), kubeconfig, { mode: 0o600 });
  const files = [`--config-file=${file('yaml')}`, `--kubeconfig=${file('kubeconfig')}`];
  const own = component === 'prober' ? proberFlags : [];
  return [component, ...files, ...own, '--metrics-bind-addr=0', '--health-bind-addr=0', ...flags];
};

/** Starts the target. It ends with this process at the latest. */
export const startTarget = (target: Target, start: ProcessStart): RunningTarget => {
  const args = targetArgs(start);
  const outputFile = join(start.directory, `${start.component}.output`);
  const output = openSync(outputFile, 'w');
  const script = `exec ${target.command} "$@"`;
  const child = spawn('/bin/sh', ['-c', script, target.name, ...args], { stdio: ['ignore', output, output] });
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
      const cancel = systemClock().timer(graceMs, kill);
      await ended;
      cancel();
    },
  };
};

/** Like `waitFor`, every 500 ms; its error names the end of the program, or what it wrote last. */
export const waitForTarget = <T>(program: RunningTarget, wait: Wait, attempt: WaitAttempt<T>): Promise<T> =>
  waitFor({ everyMs: 500, ...wait }, () => {
    program.check();
    return attempt();
  }).catch((error: unknown) => {
    program.check();
    throw new Error(`${String(error)}; its output ends with\n${program.tail()}`, { cause: error });
  });
