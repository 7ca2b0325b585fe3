// All shoots of a seed fail in the same second: how long until the last of them is protected, and until it is restored?
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { startServed } from '../../test/envtest/served.ts';
import { type Workplace, attempt } from '../harness/attempt.ts';
import { say, write } from '../harness/command.ts';
import { startCost } from '../harness/cost.ts';
import { gardenConfig, graceMs, longestIntervalMs, thresholdAt } from '../harness/garden-config.ts';
import type { BenchOptions } from '../harness/options.ts';
import { inMegabytes, inPercent, inSeconds, quantile, tableOf } from '../harness/table.ts';
import { startTarget, waitForTarget } from '../harness/target.ts';
import type { SeedInit, SeedProcess, SeedReport } from '../worlds/seed.ts';

const deploymentsPerShoot = 3;
/** Long enough for KCM to mark every node Unknown. */
const outageMs = graceMs + 15_000;
/** Long, because programs may probe the shoots one after the other. */
const readyLimitMs = 180_000;

/** Scale-ups take three writes per shoot at five a second, and their Events as long again. */
const restorationLimitMs = (shoots: number): number => 2 * shoots * deploymentsPerShoot * 200 + 120_000;

type Recorded = Pick<SeedReport, 'leases' | 'writes'>;

/**
 * Milliseconds from the threshold of each shoot whose Deployments were all scaled down to its first and last scale-down write; the last one waits until the pods
 * of the earlier ones are gone. The leases of the report have the last renewals before the kubelets were cut off.
 */
export const protectionOf = ({ leases, writes }: Recorded, scale: number) => {
  const delays = leases.flatMap(({ namespace, renewals }) => {
    const downs = writes.filter((write) => write.namespace === namespace && write.to === 0);
    const times = downs.map(({ at }) => at - thresholdAt(renewals, scale));
    return times.length < deploymentsPerShoot ? [] : [{ first: Math.min(...times), last: Math.max(...times) }];
  });
  return { first: delays.map(({ first }) => first), last: delays.map(({ last }) => last) };
};

/** Milliseconds from `since`, when the kubelets were reconnected, to the last scale-up write of each shoot. */
export const restorationOf = ({ writes }: Pick<Recorded, 'writes'>, since: number) => {
  const ups = writes.filter(({ from, to }) => from === 0 && to > 0);
  const shoots = [...Map.groupBy(ups, ({ namespace }) => namespace).values()];
  return { deployments: ups.length, last: shoots.map((all) => Math.max(...all.map(({ at }) => at)) - since) };
};

const measure = async (options: BenchOptions, { directory, atEnd }: Workplace) => {
  const { target, scale, shoots = 250, nodes = 50 } = options;
  const init: SeedInit = { shoots, nodes, scale };
  const world = startServed<SeedProcess>(new URL('../worlds/seed.ts', import.meta.url), init);
  atEnd(() => world.end());
  const { kubeconfig } = await world.ready();
  const config = gardenConfig(kubeconfigSecretName, { scale });
  const program = await startTarget(target, { component: 'prober', config, kubeconfig, directory });
  atEnd(() => program.stop());
  const wait = { what: `${target.name} to probe every shoot`, withinMs: readyLimitMs };
  await waitForTarget(program, wait, async () => (await world.order('probes')).every((probes) => probes > 0));
  await sleep(longestIntervalMs * scale);
  say('mass outage: the outage');
  const endCost = startCost({ program: program.pid });
  await world.order('cut');
  await sleep(outageMs * scale);
  program.check();
  const cost = endCost();
  const protection = protectionOf(await world.order('report'), scale);
  say('mass outage: the restoration');
  const since = await world.order('restore');
  const deadline = performance.now() + restorationLimitMs(shoots);
  while (performance.now() < deadline && (await world.order('report')).held > 0) {
    program.check();
    await sleep(1_000);
  }
  const end = await world.order('report');
  return { ...{ shoots, cost, protection }, ...{ end, restoration: restorationOf(end, since) } };
};

const markdownOf = ({ shoots, cost, protection, restoration, end }: Awaited<ReturnType<typeof measure>>): string => `
## Outage of ${String(shoots)} shoots in the same second

${tableOf<readonly [string, readonly number[]]>(
  [
    ['seconds', ([what]) => what],
    ['median', ([, all]) => inSeconds(quantile(all, 0.5))],
    ['p99', ([, all]) => inSeconds(quantile(all, 0.99))],
    ['worst', ([, all]) => inSeconds(quantile(all, 1))],
  ],
  [
    ["from a shoot's threshold to its first scale-down write", protection.first],
    ['to its last scale-down write (aim: 3 s for the worst)', protection.last],
    ['from the end of the outage to its last scale-up write', restoration.last],
  ],
)}

${String(protection.last.length)} of ${String(shoots)} shoots were scaled down, ${String(restoration.deployments)} of ${String(shoots * deploymentsPerShoot)} Deployments restored.
Nodes given up by KCM: ${String(end.nodesTurnedUnknown)}; machines replaced: ${String(end.machinesReplaced)}.
The outage took ${inPercent(cost.cpu.program, cost.seconds)} of one processor, and ${inMegabytes(cost.peakBytes.program)} MB at most.`;

export const runMassOutage = async (options: BenchOptions): Promise<boolean> => {
  const result = await attempt('mass outage', (place) => measure(options, place));
  if (result !== undefined) write(markdownOf(result));
  return result !== undefined;
};
