// The etcds of all shoots of a seed become ready in the same second: how long until the last crash-looping pod is deleted?
import { setTimeout as sleep } from 'node:timers/promises';
import { startServed } from '../../test/envtest/served.ts';
import { type Cost, startCost } from '../harness/cost.ts';
import { type BenchOptions, type PartResult, attempt, missesOf, partResult } from '../harness/part.ts';
import { type Column, inMegabytes, inSeconds, quantile, tableOf } from '../harness/table.ts';
import { startTarget, waitForTarget } from '../harness/target.ts';
import type { RecoveryInit, RecoveryProcess, RecoveryReport } from '../worlds/recovery.ts';

interface RecoveryResult extends Cost<'program' | 'world'> {
  readonly shoots: number;
  /** Time from the readiness of a service to the deletion of each pod, in milliseconds. */
  readonly delays: readonly number[];
  /** Report before the services became ready. */
  readonly idle: RecoveryReport;
  /** Report after all pods were deleted. */
  readonly report: RecoveryReport;
}

const etcdService = 'etcd-main-client';
const podsPerShoot = 2;
const [usualShoots, quickShoots] = [250, 3];
const [idleMs, quickIdleMs] = [10_000, 1_000];
const readyLimitMs = 60_000;
const deleteLimitMs = 180_000;
/** Aim for the slowest pod. */
const aimMs = 2_000;
/** Connections for one watch of EndpointSlices, one of pods, 20 requests of weedings, and 4 of ordinary priority for Events. */
const connectionBound = 1 + 1 + 20 + 4;

const config = `servicesAndDependantSelectors:
  ${etcdService}:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
`;

const measure = async (directory: string, { target, quick, ...options }: BenchOptions): Promise<RecoveryResult> => {
  const shoots = options.shoots ?? (quick ? quickShoots : usualShoots);
  const init: RecoveryInit = { shoots, etcdService, podsPerShoot };
  const world = startServed<RecoveryProcess>(new URL('../worlds/recovery.ts', import.meta.url), init);
  try {
    const { kubeconfig } = await world.ready();
    const program = startTarget(target, { component: 'weeder', config, kubeconfig, directory });
    const until = (what: string, withinMs: number, isDone: (report: RecoveryReport) => boolean) =>
      waitForTarget(program, { what, withinMs, everyMs: 200 }, async () => {
        const report = await world.order('report');
        return isDone(report) ? report : undefined;
      });
    try {
      await until(`${target.name} to watch the services`, readyLimitMs, ({ requests }) =>
        ['endpointslices', 'endpoints'].some((kind) => (requests[`watch ${kind}`] ?? 0) > 0),
      );
      await sleep(quick ? quickIdleMs : idleMs);
      const idle = await world.order('report');
      const endCost = startCost({ program: program.pid, world: world.pid });
      const at = await world.order('recover');
      const areDeleted = ({ deletedAt }: RecoveryReport): boolean => deletedAt.length >= shoots * podsPerShoot;
      const report = await until('all pods to be deleted', deleteLimitMs, areDeleted);
      return { shoots, delays: report.deletedAt.map((deleted) => deleted - at), idle, report, ...endCost() };
    } finally {
      await program.stop();
    }
  } finally {
    await world.end();
  }
};

const failuresOf = ({ report: { connections }, idle, delays }: RecoveryResult): readonly string[] => {
  const worst = quantile(delays, 1);
  return missesOf([
    [worst < aimMs, `the slowest pod took ${inSeconds(worst)} s, aim ${inSeconds(aimMs)} s`],
    [connections <= connectionBound, `${String(connections)} connections, bound ${String(connectionBound)}`],
    [(idle.requests['list pods'] ?? 0) === 0, 'pods were listed while nothing happened'],
  ]);
};

const countsOf = (requests: RecoveryReport['requests']): string =>
  Object.entries(requests)
    .map(([key, count]) => `${key} ${String(count)}`)
    .join(', ');

const columns: readonly Column<RecoveryResult>[] = [
  ['pods', (row) => row.delays.length],
  ['median', (row) => inSeconds(quantile(row.delays, 0.5))],
  ['p99', (row) => inSeconds(quantile(row.delays, 0.99))],
  ['worst', (row) => inSeconds(quantile(row.delays, 1))],
  ['CPU s', (row) => row.cpu.program.toFixed(2)],
  ['peak MB', (row) => inMegabytes(row.peakBytes.program)],
  ['connections', (row) => row.report.connections],
  ['requests in all', (row) => countsOf(row.report.requests)],
  ['world CPU s', (row) => row.cpu.world.toFixed(2)],
  ['other CPU s', (row) => row.otherCpuSeconds.toFixed(2)],
];

const markdownOf = (results: readonly RecoveryResult[]): string =>
  [
    `## Recovery of ${String(results[0]?.shoots ?? 0)} services in the same second`,
    '',
    tableOf(columns, results),
    '',
    `Median, p99 and worst are seconds from ready to delete; the aim is ${inSeconds(aimMs)} s for the worst. CPU seconds from ready to the last delete.`,
  ].join('\n');

export const runMassRecovery = async (options: BenchOptions): Promise<PartResult> =>
  partResult([await attempt('mass recovery', (directory) => measure(directory, options))], markdownOf, failuresOf);
