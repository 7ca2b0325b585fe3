import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Resources that processes and their descendants used during a measurement. */
export interface Cost<Name extends string> {
  readonly seconds: number;
  /** CPU seconds. */
  readonly cpu: Readonly<Record<Name, number>>;
  /** Sum of the peak memory (`VmHWM`) since the start, in bytes. */
  readonly peakBytes: Readonly<Record<Name, number>>;
  /** CPU seconds of everything else on the machine. */
  readonly otherCpuSeconds: number;
}

/** USER_HZ, which is 100 on all platforms of Linux. */
const ticksPerSecond = 100;

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Fields of proc_pid_stat(5) from the third on. The name before them may contain spaces and parentheses. */
const statOf = (pid: number): readonly string[] =>
  /^.*\)\s(.*)$/s.exec(read(`/proc/${String(pid)}/stat`))?.[1]?.split(' ') ?? [];

/** PIDs of the process and of its descendants that still run. */
const familyOf = (pid: number): readonly number[] => {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  const parents = all.map((each) => [each, Number(statOf(each)[1])] as const);
  const family = [pid];
  for (const member of family) family.push(...parents.filter(([, of]) => of === member).map(([child]) => child));
  return family;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** CPU seconds of the process and of its children that have ended, user and system (fields 14 to 17); NaN where there is no /proc. */
const cpuSecondsOf = (pid: number): number =>
  sum([11, 12, 13, 14].map((field) => Number(statOf(pid)[field]))) / ticksPerSecond;

const peakOf = (pid: number): number =>
  1_024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${String(pid)}/status`))?.[1] ?? 0);

/** CPU seconds that all processes of the machine have used since it started. */
const cpuSecondsOfAll = (): number =>
  sum(cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq)) / 1_000;

/** Starts to measure the processes with these PIDs. The returned function ends the measurement. */
export const startCost = <Name extends string>(pids: Readonly<Record<Name, number>>): (() => Cost<Name>) => {
  const names = Object.keys(pids) as Name[];
  const byName = (valueOf: (pid: number, name: Name) => number) =>
    Object.fromEntries(names.map((name) => [name, valueOf(pids[name], name)])) as Record<Name, number>;
  const measure = () => ({
    at: performance.now(),
    all: cpuSecondsOfAll(),
    cpu: byName((pid) => sum(familyOf(pid).map(cpuSecondsOf))),
  });
  const start = measure();
  return () => {
    const end = measure();
    const cpu = byName((_, name) => end.cpu[name] - start.cpu[name]);
    return {
      seconds: (end.at - start.at) / 1_000,
      cpu,
      peakBytes: byName((pid) => sum(familyOf(pid).map(peakOf))),
      otherCpuSeconds: end.all - start.all - sum(names.map((name) => cpu[name])),
    };
  };
};
