import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../../test/envtest/processes.ts';
import { type Wait, type WaitAttempt, waitFor } from '../../test/envtest/waiting.ts';
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

export interface TargetOptions {
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
  /** Sends SIGTERM, and SIGKILL after 10 s. A stopped process is continued first, so that it can end. */
  stop(): Promise<void>;
}

/** As in the image. Else V8 lets its young generation grow to 96 MB, when it likes, and the peak of memory shows little else. */
const environment = 'NODE_OPTIONS=--max-semi-space-size=8 MALLOC_ARENA_MAX=1 UV_THREADPOOL_SIZE=64';

const graceMs = 10_000;

/** Writes a component's files into the directory and returns its arguments: gardenlet's flags, with its servers disabled. */
const argumentsOf = ({ component, config, kubeconfig, directory, flags = [] }: TargetOptions): readonly string[] => {
  const file = (name: string): string => join(directory, `${component}.${name}`);
  writeFileSync(file('yaml'), config);
  writeFileSync(file('kubeconfig'), kubeconfig, { mode: 0o600 });
  const files = [`--config-file=${file('yaml')}`, `--kubeconfig=${file('kubeconfig')}`];
  const own = component === 'prober' ? proberFlags : [];
  return [component, ...files, ...own, '--metrics-bind-addr=0', '--health-bind-addr=0', ...flags];
};

/** Starts the target, which ends with this process at the latest. */
export const startTarget = async ({ name, command }: Target, options: TargetOptions): Promise<RunningTarget> => {
  const { component, directory } = options;
  const logFile = join(directory, `${component}.output`);
  const script = `export ${environment}; exec ${command} "$@"`;
  const args = ['-c', script, name, ...argumentsOf(options)];
  const { pid, hasEnded, logTail, stop } = await startProcess({ name, command: '/bin/sh', args, logFile, directory });
  const signal = (wanted: NodeJS.Signals): void => {
    if (!hasEnded()) process.kill(pid, wanted);
  };
  return {
    ...{ pid, hasEnded, signal, tail: logTail },
    check: () => {
      if (hasEnded()) throw new Error(`${name} has ended; its output ends with\n${logTail()}`);
    },
    output: () => readFileSync(logFile, 'utf8'),
    stop: async () => {
      const stopped = stop({ withinMs: graceMs });
      signal('SIGCONT');
      await stopped;
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
