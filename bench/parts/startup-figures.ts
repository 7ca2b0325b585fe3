import type { Memory } from '../harness/cpu.ts';
import { inMegabytes, quantile, tableOf } from '../harness/table.ts';
import type { MeasuredComponent, StartCost } from './startup-measure.ts';

/** Starts of one program, or of Node alone if `component` is absent. */
export interface StartRow {
  readonly name: string;
  readonly component?: MeasuredComponent;
  readonly starts: readonly StartCost[];
}

export interface IdleRow {
  readonly name: string;
  readonly component: MeasuredComponent;
  readonly memory: Memory;
}

const whole = (value: number): string => value.toFixed(0);
const what = ({ name, component }: { readonly name: string; readonly component?: MeasuredComponent }): string =>
  component === undefined ? name : `${name} ${component}`;

/** Aim for the CPU time of a start, in milliseconds. */
const mostCpuMs = 300;

const median = (starts: readonly StartCost[], of: keyof StartCost): number =>
  quantile(
    starts.map((start) => start[of]),
    0.5,
  );

export const startsTable = (rows: readonly StartRow[]): string => {
  const bare = median(rows.find(({ component }) => component === undefined)?.starts ?? [], 'cpuMs');
  const cpuOf = ({ starts }: StartRow): readonly number[] => starts.map(({ cpuMs }) => cpuMs);
  return tableOf(
    [
      ['', what],
      ['CPU ms to the first line, median', ({ starts }) => whole(median(starts, 'cpuMs'))],
      ['least to most', (row) => `${whole(Math.min(...cpuOf(row)))} to ${whole(Math.max(...cpuOf(row)))}`],
      ['times bare Node', ({ starts }) => (median(starts, 'cpuMs') / bare).toFixed(1)],
      ['wall ms, median', ({ starts }) => whole(median(starts, 'wallMs'))],
    ],
    rows,
  );
};

export const idleTable = (rows: readonly IdleRow[]): string =>
  tableOf(
    [
      ['', what],
      ['resident MB', ({ memory }) => inMegabytes(memory.resident)],
      ['of that anonymous', ({ memory }) => inMegabytes(memory.anonymous)],
    ],
    rows,
  );

/** Names the aims that the program of this checkout, `own`, missed. Its memory is compared with that of the other program, if there is one. */
export const missedBy = (own: string, starts: readonly StartRow[], idle: readonly IdleRow[]): readonly string[] => [
  ...starts.flatMap((row) => {
    const cpuMs = median(row.starts, 'cpuMs');
    if (row.name !== own || cpuMs <= mostCpuMs) return [];
    return [`${what(row)}: ${whole(cpuMs)} ms of CPU to the first line, aim ${whole(mostCpuMs)}`];
  }),
  ...idle.flatMap(({ name, component, memory }) => {
    const other = idle.find((row) => row.name !== own && row.component === component);
    if (name !== own || other === undefined || memory.resident <= other.memory.resident) return [];
    const [ours, theirs] = [memory, other.memory].map(({ resident }) => inMegabytes(resident));
    return [`${what({ name, component })}: ${ours} MB idle, aim at most ${theirs}, that of ${other.name}`];
  }),
];
