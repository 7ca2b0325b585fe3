import { inSeconds, markdownTable, quantile } from '../support/table.ts';
import type { Report } from './protocol.ts';

export interface Result {
  readonly target: string;
  readonly shoots: number;
  /** From a service's readiness to the deletion of each pod, in milliseconds. */
  readonly delays: readonly number[];
  readonly seconds: number;
  /** Until the services became ready. */
  readonly idle: Report;
  /** Until all pods were deleted. */
  readonly report: Report;
  readonly cpuSeconds: number;
  readonly worldCpuSeconds: number;
  /** Of everything else on the machine. */
  readonly otherCpuSeconds: number;
  readonly peakBytes: number;
}

/** For the slowest pod. */
const aimMs = 2_000;
/** One watch of slices, one of pods, 20 requests of weedings, and the ordinary lane's for Events. */
const connectionBound = 1 + 1 + 20 + 4;

const worstOf = ({ delays }: Result): number => quantile(delays, 1);

export const failuresOf = (result: Result): readonly string[] => {
  const { report, idle } = result;
  const worst = worstOf(result);
  return [
    ...(worst < aimMs ? [] : [`the slowest pod took ${inSeconds(worst)} s, aim ${inSeconds(aimMs)} s`]),
    ...(report.connections <= connectionBound
      ? []
      : [`${String(report.connections)} connections, bound ${String(connectionBound)}`]),
    ...((idle.requests['list pods'] ?? 0) === 0 ? [] : ['pods were listed while nothing happened']),
  ];
};

const toldRequests = (requests: Report['requests']): string =>
  Object.entries(requests)
    .map(([key, count]) => `${key} ${String(count)}`)
    .join(', ');

const rowOf = (result: Result): readonly string[] => [
  result.target,
  String(result.delays.length),
  ...[0.5, 0.99, 1].map((q) => inSeconds(quantile(result.delays, q))),
  result.cpuSeconds.toFixed(2),
  (result.peakBytes / 1e6).toFixed(0),
  String(result.report.connections),
  toldRequests(result.report.requests),
  result.worldCpuSeconds.toFixed(2),
  result.otherCpuSeconds.toFixed(2),
];

const head = [
  'program',
  'pods',
  'median',
  'p99',
  'worst',
  'CPU s',
  'peak MB',
  'connections',
  'requests in all',
  'world CPU s',
  'other CPU s',
];

/** Runs of the same number of shoots. */
export const tell = (results: readonly Result[]): string =>
  [
    `## Recovery of ${String(results[0]?.shoots ?? 0)} services in the same second`,
    '',
    markdownTable(head, results.map(rowOf)),
    '',
    `Median, p99 and worst are seconds from ready to delete; the aim is ${inSeconds(aimMs)} s for the worst. CPU seconds from ready to the last delete.`,
  ].join('\n');
