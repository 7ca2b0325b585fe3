import type { IsolatedShoot } from './isolated-shoot.ts';
import type { FlowDirection } from './write-faults.ts';
import type { ProxiedWrite } from './write-proxy.ts';

/** The result of one flow in one shoot. */
export interface MatrixRow {
  readonly trouble: string;
  readonly flow: FlowDirection;
  /** The write that had the fault. */
  readonly target: string;
  /** HTTP status of every write of the flow, in order. */
  readonly statuses: string;
  readonly result: string;
}

/** Returns the statuses as text. `-` is a write that never arrived. */
const statusesOf = (writes: readonly ProxiedWrite[]): string =>
  writes.map(({ status }) => (status === undefined ? '-' : String(status))).join(' ');

/** Collects the result of each flow. */
export const createMatrix = () => {
  const rows: MatrixRow[] = [];
  return {
    /** Adds a row to the matrix, even if `work` fails. */
    record: async (
      isolated: IsolatedShoot,
      row: Omit<MatrixRow, 'statuses' | 'result'>,
      work: Promise<void>,
    ): Promise<void> => {
      const { length } = isolated.proxy.writes;
      let result = 'FAILED';
      try {
        await work;
        result = 'as before';
      } finally {
        rows.push({ ...row, statuses: statusesOf(isolated.proxy.writes.slice(length)), result });
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
