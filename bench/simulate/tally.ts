import type { Run } from '../../src/scenario/simulation/index.ts';
import { markdownTable } from '../support/table.ts';

/** What all runs amount to. */
export interface Tally {
  /** `cpuMs`: what it took. */
  add(run: Run, cpuMs: number): void;
  /** As lines. */
  tell(): readonly string[];
}

export const createTally = (): Tally => {
  const counts = new Map<string, number>();
  const count = (what: string, by = 1): void => void counts.set(what, (counts.get(what) ?? 0) + by);
  let runs = 0;
  let lengthMs = 0;
  let totalCpuMs = 0;

  return {
    add: (run, cpuMs) => {
      runs += 1;
      totalCpuMs += cpuMs;
      lengthMs += run.lengthMs;
      count(`plans of a ${run.plan.component}`);
      count('faults', run.plan.faults.length);
      count('violations', run.violation === undefined ? 0 : 1);
      count('nodes given up where nobody could have been in time', run.toll.nodesTurnedUnknown);
      for (const event of run.events) {
        if (event.kind === 'pod' && event.writer !== 'world') {
          if (event.after?.isDeleting === true && event.before?.isDeleting === false) count('pods weeded');
        }
        if (event.kind !== 'deployment' || event.writer === 'world') continue;
        const [before = 0, after = 0] = [event.before?.replicas, event.after?.replicas];
        if (before > 0 && after === 0) count('Deployments scaled down');
        if (before === 0 && after > 0) count('Deployments restored');
      }
    },
    tell: () => [
      markdownTable(
        ['', 'number'],
        [
          ['runs', String(runs)],
          ...Array.from(counts, ([what, number]) => [what, String(number)]),
          ['virtual minutes', (lengthMs / 60_000).toFixed(0)],
          ['CPU ms per run', (totalCpuMs / Math.max(1, runs)).toFixed(1)],
          ['runs per minute of CPU', ((runs * 60_000) / totalCpuMs).toFixed(0)],
        ],
      ),
    ],
  };
};
