import type { Lane } from './lane.ts';
import type { FlowDirection } from './troubles.ts';
import type { ProxiedWrite } from './write-proxy.ts';

/** One row of the matrix. */
export interface MatrixRow {
  readonly trouble: string;
  readonly flow: FlowDirection;
  /** The write that met it. */
  readonly target: string;
  /** Of all writes of the flow, in order. */
  readonly statuses: string;
  readonly result: string;
}

/** `-`: never arrived. */
const statusesOf = (writes: readonly ProxiedWrite[]): string =>
  writes.map(({ status }) => (status === undefined ? '-' : String(status))).join(' ');

/** Collects what became of each flow. */
export const createMatrix = () => {
  const rows: MatrixRow[] = [];
  return {
    /** Puts a row into the matrix, however `work` ends. */
    record: async (lane: Lane, row: Omit<MatrixRow, 'statuses' | 'result'>, work: Promise<void>): Promise<void> => {
      const { length } = lane.proxy.writes;
      let result = 'FAILED';
      try {
        await work;
        result = 'as before';
      } finally {
        rows.push({ ...row, statuses: statusesOf(lane.proxy.writes.slice(length)), result });
      }
    },
    table: (): string =>
      rows
        .map(({ trouble, flow, target, statuses, result }) =>
          [trouble.padEnd(14), flow.padEnd(5), target.padEnd(27), statuses.padEnd(28), result].join(' '),
        )
        .join('\n'),
  };
};
