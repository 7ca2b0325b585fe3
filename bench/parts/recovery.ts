// The etcds of all shoots of a seed become ready in the same second: how long until the last crash-looping pod is deleted?
import { setTimeout as sleep } from 'node:timers/promises';
import { startServed } from '../../test/envtest/served.ts';
import { type Workplace, attempt } from '../harness/attempt.ts';
import { write } from '../harness/command.ts';
import { startCost } from '../harness/cost.ts';
import type { BenchOptions } from '../harness/options.ts';
import { inMegabytes, inSeconds, quantile, tableOf } from '../harness/table.ts';
import { startTarget, waitForTarget } from '../harness/target.ts';
import type { RecoveryInit, RecoveryProcess, RecoveryReport } from '../worlds/recovery.ts';

const etcdService = 'etcd-main-client';
const podsPerShoot = 2;
const idleMs = 10_000;
const readyLimitMs = 60_000;
const deleteLimitMs = 180_000;

const config = `servicesAndDependantSelectors:
  ${etcdService}:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
`;

const measure = async ({ target, scale, shoots = 250 }: BenchOptions, { directory, atEnd }: Workplace) => {
  const init: RecoveryInit = { shoots, etcdService, podsPerShoot };
  const world = startServed<RecoveryProcess>(new URL('../worlds/recovery.ts', import.meta.url), init);
  atEnd(() => world.end());
  const { kubeconfig } = await world.ready();
  const program = await startTarget(target, { component: 'weeder', config, kubeconfig, directory });
  atEnd(() => program.stop());
  const until = (what: string, withinMs: number, isDone: (report: RecoveryReport) => boolean) =>
    waitForTarget(program, { what, withinMs, everyMs: 200 }, async () => {
      const report = await world.order('report');
      return isDone(report) ? report : undefined;
    });
  await until(`${target.name} to watch the services`, readyLimitMs, ({ isWatched }) => isWatched);
  await sleep(idleMs * scale);
  const endCost = startCost({ program: program.pid });
  const at = await world.order('recover');
  const areDeleted = ({ deletedAt }: RecoveryReport): boolean => deletedAt.length >= shoots * podsPerShoot;
  const { deletedAt, connections } = await until('all pods to be deleted', deleteLimitMs, areDeleted);
  return { shoots, delays: deletedAt.map((deleted) => deleted - at), connections, ...endCost() };
};

type RecoveryResult = Awaited<ReturnType<typeof measure>>;

const markdownOf = (result: RecoveryResult): string => `
## Recovery of ${String(result.shoots)} services in the same second

${tableOf<RecoveryResult>(
  [
    ['pods', ({ delays }) => delays.length],
    ['median', ({ delays }) => inSeconds(quantile(delays, 0.5))],
    ['p99', ({ delays }) => inSeconds(quantile(delays, 0.99))],
    ['worst', ({ delays }) => inSeconds(quantile(delays, 1))],
    ['CPU s', ({ cpu }) => cpu.program.toFixed(2)],
    ['peak MB', ({ peakBytes }) => inMegabytes(peakBytes.program)],
    ['connections', ({ connections }) => connections],
  ],
  [result],
)}

Median, p99 and worst are seconds from ready to delete; the aim is 2 s for the worst. CPU seconds from ready to the last delete.`;

export const runMassRecovery = async (options: BenchOptions): Promise<boolean> => {
  const result = await attempt('mass recovery', (place) => measure(options, place));
  if (result !== undefined) write(markdownOf(result));
  return result !== undefined;
};
