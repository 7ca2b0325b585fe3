import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Target, shellWord } from './target.ts';

/** Kubernetes' default (`--cpu-cfs-quota-period` of the kubelet), in microseconds. */
const periodUs = 100_000;

/** A program that is limited to a share of one processor. */
export interface Throttled {
  readonly target: Target;
  /** Means by which the program is limited. */
  readonly by: 'cgroup' | 'SIGSTOP';
  /** Removes the limit. Call it after the program has ended. */
  end(): void;
}

export interface Limits {
  /** Share of one processor. */
  readonly share: number;
  /** Limit of the memory, which only a cgroup can set. Default: none. */
  readonly memoryBytes?: number | undefined;
}

/** Directory for groups, and the files that set a limit. */
interface Group {
  readonly root: string;
  readonly files: readonly (readonly [file: string, value: string])[];
}

/** Both versions of cgroups: a file that shows that the version is present, and the groups that set the limits. */
const versions: readonly { readonly mark: string; readonly groups: (limits: Limits) => readonly Group[] }[] = [
  {
    mark: '/sys/fs/cgroup/cgroup.controllers',
    groups: ({ share, memoryBytes }) => [
      {
        root: '/sys/fs/cgroup',
        files: [
          ['cpu.max', `${String(share * periodUs)} ${String(periodUs)}`],
          ...(memoryBytes === undefined ? [] : [['memory.max', String(memoryBytes)] as const]),
        ],
      },
    ],
  },
  {
    mark: '/sys/fs/cgroup/cpu/cpu.cfs_quota_us',
    groups: ({ share, memoryBytes }) => [
      {
        root: '/sys/fs/cgroup/cpu',
        files: [
          ['cpu.cfs_period_us', String(periodUs)],
          ['cpu.cfs_quota_us', String(share * periodUs)],
        ],
      },
      ...(memoryBytes === undefined
        ? []
        : [{ root: '/sys/fs/cgroup/memory', files: [['memory.limit_in_bytes', String(memoryBytes)] as const] }]),
    ],
  },
];

const removeAll = (directories: readonly string[]): void => {
  for (const directory of directories) if (existsSync(directory)) rmdirSync(directory);
};

/** Limits the target as a container with limits is. Undefined if cgroups cannot be written, as without root. */
const byCgroup = (target: Target, limits: Limits): Throttled | undefined => {
  const groups = versions.find(({ mark }) => existsSync(mark))?.groups(limits);
  if (groups === undefined) return undefined;
  const named = groups.map(({ root, files }) => ({ directory: join(root, `dwd-bench-${String(process.pid)}`), files }));
  const directories = named.map(({ directory }) => directory);
  try {
    for (const { directory, files } of named) {
      mkdirSync(directory);
      for (const [file, value] of files) writeFileSync(join(directory, file), value);
    }
  } catch {
    removeAll(directories);
    return undefined;
  }
  const enter = directories.map((directory) => `echo $$ > ${shellWord(join(directory, 'cgroup.procs'))}`);
  const script = `${enter.join(' && ')} && exec "$@"`;
  const command = `/bin/sh -c ${shellWord(script)} throttled ${target.command}`;
  return { target: { ...target, command }, by: 'cgroup', end: () => removeAll(directories) };
};

/** Stops and continues the target periodically. Unlike under a cgroup, it reacts late even if it has used no CPU time. */
const bySignals = (target: Target, share: number): Throttled => {
  const [onS, offS] = [share, 1 - share].map((part) => ((part * periodUs) / 1e6).toFixed(3));
  const cycle = `while kill -CONT $0 && sleep ${onS ?? ''} && kill -STOP $0; do sleep ${offS ?? ''}; done 2>/dev/null`;
  const script = `/bin/sh -c ${shellWord(cycle)} $$ & exec "$@"`;
  const command = `/bin/sh -c ${shellWord(script)} throttled ${target.command}`;
  return { target: { ...target, command }, by: 'SIGSTOP', end: () => undefined };
};

/** Limits the target from its start. */
export const throttle = (target: Target, limits: Limits): Throttled =>
  byCgroup(target, limits) ?? bySignals(target, limits.share);
