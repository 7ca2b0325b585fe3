import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** USER_HZ, which is 100 on all platforms of Linux. */
const ticksPerSecond = 100;

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Fields of proc_pid_stat(5) from the third on. The name before them may contain spaces and parentheses. */
const statOf = (pid: number | string): readonly string[] | undefined => {
  const [, rest] = /^.*\)\s(.*)$/s.exec(read(`/proc/${pid}/stat`) ?? '') ?? [];
  return rest?.split(' ');
};

/** CPU seconds that a process has used so far, user and system (fields 14 and 15); NaN where there is no /proc. */
const cpuSecondsOf = (pid: number): number => {
  const fields = statOf(pid) ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

/**
 * CPU milliseconds that the living threads of a process have used so far. The scheduler counts them in nanoseconds; `/proc/PID/stat` counts in
 * steps of 10 ms. Threads that have ended are not included.
 */
export const threadsCpuMsOf = (pid: number): number => {
  const threads = readdirSync(`/proc/${String(pid)}/task`);
  const nanoseconds = threads.map((thread) =>
    Number(read(`/proc/${String(pid)}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0),
  );
  return sum(nanoseconds) / 1e6;
};

/** Current memory of a process, in bytes. */
export interface Memory {
  /** `VmRSS`: `anonymous` plus the file pages in memory, mostly those of the program itself. */
  readonly resident: number;
  /** `RssAnon`: memory that the process does not share and that the kernel cannot drop. */
  readonly anonymous: number;
}

export const memoryOf = (pid: number): Memory => {
  const status = read(`/proc/${String(pid)}/status`) ?? '';
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  return { resident: field('VmRSS'), anonymous: field('RssAnon') };
};

/** PIDs of the process and of its descendants that still run. */
const familyOf = (pid: number): readonly number[] => {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = all.map((name) => [Number(name), Number(statOf(name)?.[1])] as const);
  const family = [pid];
  for (const member of family) {
    family.push(...parents.filter(([, parent]) => parent === member).map(([child]) => child));
  }
  return family;
};

/** CPU seconds of children that have ended, from the statistics of their parent (fields 16 and 17). */
const endedChildrenOf = (pid: number): number => {
  const fields = statOf(pid) ?? [];
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
};

export interface Usage {
  readonly cpuSeconds: number;
  /** Sum of the peak memory (`VmHWM`) of the process and its descendants, in bytes. */
  readonly peakBytes: number;
}

const peakOf = (pid: number): number => {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '') ?? [];
  return Number(kib ?? 0) * 1024;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Resources that a process and its descendants have used so far. */
export const usageOf = (pid: number): Usage => {
  const family = familyOf(pid);
  return {
    cpuSeconds: sum(family.map((member) => cpuSecondsOf(member) + endedChildrenOf(member))),
    peakBytes: sum(family.map(peakOf)),
  };
};

/** CPU seconds that all processes of the machine have used since it started. */
export const cpuSecondsOfAll = (): number =>
  cpus().reduce((total, { times: { user, nice, sys, irq } }) => total + user + nice + sys + irq, 0) / 1_000;
