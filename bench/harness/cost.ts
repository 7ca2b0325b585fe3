import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Resources that processes used during a measurement. */
export interface Cost<Name extends string> {
  readonly seconds: number;
  /** CPU seconds. */
  readonly cpu: Readonly<Record<Name, number>>;
  /** Peak memory (`VmHWM`) since the start, in bytes. */
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

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** CPU seconds of the process, user and system (fields 14 and 15 of proc_pid_stat(5)); NaN where there is no /proc. The name before them may contain spaces and parentheses. */
const cpuSecondsOf = (pid: number): number => {
  const fromThird = /^.*\)\s(.*)$/s.exec(read(`/proc/${String(pid)}/stat`))?.[1]?.split(' ') ?? [];
  return (Number(fromThird[11]) + Number(fromThird[12])) / ticksPerSecond;
};

const peakOf = (pid: number): number =>
  1_024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${String(pid)}/status`))?.[1] ?? 0);

/** CPU seconds that all processes of the machine have used since it started. */
const cpuSecondsOfAll = (): number =>
  sum(cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq)) / 1_000;

/** Starts to measure the processes with these PIDs. The returned function ends the measurement. */
export const startCost = <Name extends string>(pids: Readonly<Record<Name, number>>): (() => Cost<Name>) => {
  const names = Object.keys(pids) as Name[];
  const byName = (valueOf: (name: Name) => number) =>
    Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, number>;
  const measure = () => ({
    at: performance.now(),
    all: cpuSecondsOfAll(),
    cpu: byName((name) => cpuSecondsOf(pids[name])),
  });
  const start = measure();
  return () => {
    const end = measure();
    const cpu = byName((name) => end.cpu[name] - start.cpu[name]);
    return {
      seconds: (end.at - start.at) / 1_000,
      cpu,
      peakBytes: byName((name) => peakOf(pids[name])),
      otherCpuSeconds: end.all - start.all - sum(names.map((name) => cpu[name])),
    };
  };
};
