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

/** Both versions of cgroups: the directory for groups, a file that shows that the version is present, and the files that set the limit. */
const versions = [
  {
    root: '/sys/fs/cgroup',
    mark: 'cgroup.controllers',
    files: (us: number) => [['cpu.max', `${String(us)} ${String(periodUs)}`]] as const,
  },
  {
    root: '/sys/fs/cgroup/cpu',
    mark: 'cpu.cfs_quota_us',
    files: (us: number) =>
      [
        ['cpu.cfs_period_us', String(periodUs)],
        ['cpu.cfs_quota_us', String(us)],
      ] as const,
  },
] as const;

/** Limits the target as a container with a CPU limit is. Undefined if cgroups cannot be written, as without root. */
const byCgroup = (target: Target, share: number): Throttled | undefined => {
  const version = versions.find(({ root, mark }) => existsSync(join(root, mark)));
  if (version === undefined) return undefined;
  const group = join(version.root, `dwd-bench-${String(process.pid)}`);
  try {
    mkdirSync(group);
    for (const [file, value] of version.files(share * periodUs)) writeFileSync(join(group, file), value);
  } catch {
    if (existsSync(group)) rmdirSync(group);
    return undefined;
  }
  const script = `echo $$ > ${shellWord(join(group, 'cgroup.procs'))} && exec "$@"`;
  const command = `/bin/sh -c ${shellWord(script)} throttled ${target.command}`;
  return { target: { ...target, command }, by: 'cgroup', end: () => rmdirSync(group) };
};

/** Stops and continues the target periodically. Unlike under a cgroup, it reacts late even if it has used no CPU time. */
const bySignals = (target: Target, share: number): Throttled => {
  const [onS, offS] = [share, 1 - share].map((part) => ((part * periodUs) / 1e6).toFixed(3));
  const cycle = `while kill -CONT $0 && sleep ${onS ?? ''} && kill -STOP $0; do sleep ${offS ?? ''}; done 2>/dev/null`;
  const script = `/bin/sh -c ${shellWord(cycle)} $$ & exec "$@"`;
  const command = `/bin/sh -c ${shellWord(script)} throttled ${target.command}`;
  return { target: { ...target, command }, by: 'SIGSTOP', end: () => undefined };
};

/** Limits the target to `share` of one processor, from its start. */
export const throttle = (target: Target, share: number): Throttled =>
  byCgroup(target, share) ?? bySignals(target, share);
