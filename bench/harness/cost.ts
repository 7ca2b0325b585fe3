import type { Clock } from '../../src/ports/clock.ts';
import { cpuSecondsOfAll, usageOf } from './cpu.ts';

/** Resources that groups of processes used during a measurement. */
export interface Cost<Group extends string> {
  readonly seconds: number;
  /** CPU seconds. */
  readonly cpu: Readonly<Record<Group, number>>;
  /** Peak memory of each group since its start, in bytes. */
  readonly peakBytes: Readonly<Record<Group, number>>;
  /** CPU seconds of everything else on the machine. */
  readonly otherCpuSeconds: number;
}

/** Starts to measure the processes with these PIDs. The returned function ends the measurement. */
export const startCost = <Group extends string>(
  clock: Clock,
  groups: Readonly<Record<Group, readonly number[]>>,
): (() => Cost<Group>) => {
  const names = Object.keys(groups) as Group[];
  const read = (name: Group) => {
    const usages = groups[name].map(usageOf);
    const sum = (key: 'cpuSeconds' | 'peakBytes') => usages.reduce((total, usage) => total + usage[key], 0);
    return { cpuSeconds: sum('cpuSeconds'), peakBytes: sum('peakBytes') };
  };
  const measure = () => ({
    at: clock.monotonic(),
    all: cpuSecondsOfAll(),
    of: new Map(names.map((name) => [name, read(name)])),
  });
  const byName = (valueOf: (name: Group) => number) =>
    Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Group, number>;
  const start = measure();
  return () => {
    const end = measure();
    const cpuOf = (name: Group) => (end.of.get(name)?.cpuSeconds ?? 0) - (start.of.get(name)?.cpuSeconds ?? 0);
    return {
      seconds: (end.at - start.at) / 1_000,
      cpu: byName(cpuOf),
      peakBytes: byName((name) => end.of.get(name)?.peakBytes ?? 0),
      otherCpuSeconds: names.reduce((rest, name) => rest - cpuOf(name), end.all - start.all),
    };
  };
};
