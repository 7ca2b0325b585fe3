import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/runtime/index.ts';
import { proberFlags } from './garden-config.ts';

const launcher = fileURLToPath(new URL('../../bin/dwd', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/dwd.js', import.meta.url));

/** A program under measurement: words of a shell, to which the component's name and its flags are added. */
export interface Target {
  readonly name: string;
  readonly command: string;
}

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The program of this checkout, on the Node that runs the benchmark. */
export const ownTarget = (): Target => {
  if (!existsSync(bundle)) throw new Error('dist/dwd.js is missing: run `make build` first');
  return { name: 'dwd', command: `${quote(process.execPath)} ${quote(launcher)}` };
};

export interface Start {
  readonly component: 'prober' | 'weeder' | 'care';
  readonly config: string;
  readonly kubeconfig: string;
  /** For its files; its output too. */
  readonly directory: string;
}

export interface RunningTarget {
  readonly pid: number;
  /** Throws when it has ended by itself. */
  check(): void;
  /** What it wrote, both streams. */
  output(): string;
  /** The end of it. */
  tail(): string;
  /** SIGTERM, and SIGKILL after 10 s. */
  stop(): Promise<void>;
}

const graceMs = 10_000;
/** Of its output, in an error. */
const tailLength = 3_000;

/** Starts the target with gardenlet's flags of the component, its servers switched off. It ends with this process at the latest. */
export const startTarget = (target: Target, { component, config, kubeconfig, directory }: Start): RunningTarget => {
  const file = (name: string): string => join(directory, `${component}.${name}`);
  writeFileSync(file('yaml'), config);
  writeFileSync(file('kubeconfig'), kubeconfig, { mode: 0o600 });
  const output = openSync(file('output'), 'w');
  const flags = [`--config-file=${file('yaml')}`, `--kubeconfig=${file('kubeconfig')}`];
  const own = component === 'prober' ? proberFlags : [];
  const args = [component, ...flags, ...own, '--metrics-bind-addr=0', '--health-bind-addr=0'];
  const script = `exec ${target.command} "$@"`;
  const child = spawn('/bin/sh', ['-c', script, target.name, ...args], { stdio: ['ignore', output, output] });
  closeSync(output);
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const read = (): string => readFileSync(file('output'), 'utf8');
  const tail = (): string => read().slice(-tailLength);
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? -1,
    check: () => {
      if (!hasEnded()) return;
      throw new Error(
        `${target.name} has ended (${String(child.exitCode ?? child.signalCode)}); its output ends with\n${tail()}`,
      );
    },
    output: read,
    tail,
    stop: async () => {
      process.removeListener('exit', kill);
      if (hasEnded()) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const cancel = systemClock().timer(graceMs, kill);
      await gone;
      cancel();
    },
  };
};
