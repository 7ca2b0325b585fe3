import type { Run } from '../../simulator/outages/run.ts';
import { tableOf } from '../harness/table.ts';

/** Totals over runs. They are sent between processes as JSON. */
export interface Tally {
  readonly runs: number;
  /** Virtual milliseconds. */
  readonly lengthMs: number;
  readonly cpuMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

export const emptyTally: Tally = { runs: 0, lengthMs: 0, cpuMs: 0, counts: {} };

const changesOf = ({ events }: Run): Record<string, number> => {
  const counts = { 'pods weeded': 0, 'Deployments scaled down': 0, 'Deployments restored': 0 };
  for (const event of events) {
    if (event.kind === 'pod' && event.writer !== 'world') {
      if (event.after?.isDeleting === true && event.before?.isDeleting === false) counts['pods weeded'] += 1;
    }
    if (event.kind !== 'deployment' || event.writer === 'world') continue;
    const [before = 0, after = 0] = [event.before?.replicas, event.after?.replicas];
    if (before > 0 && after === 0) counts['Deployments scaled down'] += 1;
    if (before === 0 && after > 0) counts['Deployments restored'] += 1;
  }
  return counts;
};

/** `cpuMs`: CPU time of the run. */
export const tallyOf = (run: Run, cpuMs: number): Tally => ({
  runs: 1,
  lengthMs: run.lengthMs,
  cpuMs,
  counts: {
    [`plans of a ${run.plan.component}`]: 1,
    faults: run.plan.faults.length,
    violations: run.violation === undefined ? 0 : 1,
    'nodes given up where nobody could have been in time': run.impact.nodesTurnedUnknown,
    ...changesOf(run),
  },
});

export const addTallies = (one: Tally, other: Tally): Tally => {
  const names = new Set([...Object.keys(one.counts), ...Object.keys(other.counts)]);
  return {
    runs: one.runs + other.runs,
    lengthMs: one.lengthMs + other.lengthMs,
    cpuMs: one.cpuMs + other.cpuMs,
    counts: Object.fromEntries(
      Array.from(names, (name) => [name, (one.counts[name] ?? 0) + (other.counts[name] ?? 0)]),
    ),
  };
};

/** Formats the tally as lines. */
export const formatTally = ({ runs, lengthMs, cpuMs, counts }: Tally): readonly string[] => [
  tableOf<readonly [string, string]>(
    [
      ['', ([what]) => what],
      ['number', ([, number]) => number],
    ],
    [
      ['runs', String(runs)],
      ...Object.entries(counts).map(([what, number]) => [what, String(number)] as const),
      ['virtual minutes', (lengthMs / 60_000).toFixed(0)],
      ['CPU ms per run', (cpuMs / Math.max(1, runs)).toFixed(1)],
      ['runs per minute of CPU', ((runs * 60_000) / Math.max(1, cpuMs)).toFixed(0)],
    ],
  ),
];
