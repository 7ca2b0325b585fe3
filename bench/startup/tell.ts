import type { Memory } from '../support/cpu.ts';
import { markdownTable, quantile } from '../support/table.ts';
import type { Component, Start } from './measure.ts';

/** Of one program, or of Node alone. */
export interface StartRow {
  readonly name: string;
  readonly component?: Component;
  readonly starts: readonly Start[];
}

export interface IdleRow {
  readonly name: string;
  readonly component: Component;
  readonly memory: Memory;
}

const whole = (value: number): string => value.toFixed(0);
const megabytes = (bytes: number): string => whole(bytes / 1e6);
const what = ({ name, component }: { readonly name: string; readonly component?: Component }): string =>
  component === undefined ? name : `${name} ${component}`;

/** CPU of a start in milliseconds, the aim. */
const mostCpuMs = 300;

export const tellStarts = (rows: readonly StartRow[]): string => {
  const median = (starts: readonly Start[], of: keyof Start): number =>
    quantile(
      starts.map((start) => start[of]),
      0.5,
    );
  const bare = median(rows.find(({ component }) => component === undefined)?.starts ?? [], 'cpuMs');
  return markdownTable(
    ['', 'CPU ms to the first line, median', 'least to most', 'times bare Node', 'wall ms, median'],
    rows.map((row) => {
      const cpu = row.starts.map(({ cpuMs }) => cpuMs);
      const spread = `${whole(Math.min(...cpu))} to ${whole(Math.max(...cpu))}`;
      const typical = median(row.starts, 'cpuMs');
      return [what(row), whole(typical), spread, (typical / bare).toFixed(1), whole(median(row.starts, 'wallMs'))];
    }),
  );
};

export const tellIdle = (rows: readonly IdleRow[]): string =>
  markdownTable(
    ['', 'resident MB', 'of that anonymous'],
    rows.map((row) => [what(row), megabytes(row.memory.resident), megabytes(row.memory.anonymous)]),
  );

/** Aims that the program of this checkout, `own`, has missed; the memory is held against the other program, where there is one. */
export const missedBy = (own: string, starts: readonly StartRow[], idle: readonly IdleRow[]): readonly string[] => [
  ...starts.flatMap((row) => {
    const cpuMs = quantile(
      row.starts.map((start) => start.cpuMs),
      0.5,
    );
    if (row.name !== own || cpuMs <= mostCpuMs) return [];
    return [`${what(row)}: ${whole(cpuMs)} ms of CPU to the first line, aim ${whole(mostCpuMs)}`];
  }),
  ...idle.flatMap(({ name, component, memory }) => {
    const other = idle.find((row) => row.name !== own && row.component === component);
    if (name !== own || other === undefined || memory.resident <= other.memory.resident) return [];
    const [ours, theirs] = [memory, other.memory].map(({ resident }) => megabytes(resident));
    return [`${what({ name, component })}: ${ours} MB idle, aim at most ${theirs}, that of ${other.name}`];
  }),
];
