// All shoots of a seed fail in the same second: how long until the last of them is protected, and does the recovery overload the seed?
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { type Served, startServed } from '../../test/envtest/served.ts';
import { say } from '../harness/command.ts';
import { startCost } from '../harness/cost.ts';
import { gardenConfig, graceMs, probeIntervalMs } from '../harness/garden-config.ts';
import { type BenchOptions, type PartResult, attempt, partResult } from '../harness/part.ts';
import { type RunningTarget, startTarget, waitForTarget } from '../harness/target.ts';
import type { SeedInit, SeedProcess, SeedReport } from '../worlds/seed.ts';
import {
  type OutageResult,
  type PhaseCost,
  deploymentsPerShoot,
  failuresOf,
  markdownOf,
  protectionOf,
  restorationOf,
} from './outage-figures.ts';

const usual: SeedInit = { shoots: 250, nodes: 50, scale: 1 };
const quickly: SeedInit = { shoots: 3, nodes: 3, scale: 0.1 };
/** Long enough for a probe of every shoot. */
const steadyMs = 1.2 * probeIntervalMs;
/** Long enough for KCM to mark every node Unknown. */
const outageMs = graceMs + 15_000;
/** Long, because programs may wait for their `initialDelay` first. */
const readyLimitMs = 180_000;

/** Scale-ups take three writes per shoot at five a second, and their Events as long again. */
const restorationLimitMs = (shoots: number): number => 2 * shoots * deploymentsPerShoot * 200 + 120_000;

interface Play {
  readonly world: Served<SeedProcess>;
  readonly program: RunningTarget;
  readonly size: SeedInit;
}

interface Phase<T> {
  readonly value: T;
  readonly report: SeedReport;
  readonly cost: PhaseCost;
}

const measurePhase = async <T>(part: string, { world, program }: Play, play: () => Promise<T>): Promise<Phase<T>> => {
  say(`mass outage: ${part}`);
  await world.order('measure');
  const endCost = startCost({ program: program.pid, world: world.pid });
  const value = await play();
  program.check();
  const cost = endCost();
  const report = await world.order('report');
  const { requests, worstLoopDelayMs } = report;
  return { value, report, cost: { part, ...cost, worstWorldDelayMs: worstLoopDelayMs, seedRequests: requests.length } };
};

const untilRestored = async ({ world, program, size }: Play): Promise<void> => {
  const deadline = performance.now() + restorationLimitMs(size.shoots);
  while (performance.now() < deadline && (await world.order('report')).held > 0) {
    program.check();
    await sleep(1_000);
  }
};

const play = async (context: Play): Promise<OutageResult> => {
  const { world, size } = context;
  const { scale, shoots } = size;
  const steady = await measurePhase('steady state', context, () => sleep(steadyMs * scale));
  const outage = await measurePhase('outage', context, async () => {
    await world.order('cut');
    await sleep(outageMs * scale);
  });
  const restored = await measurePhase('restoration', context, async () => {
    const at = await world.order('restore');
    await untilRestored(context);
    return at;
  });
  return {
    shoots,
    protection: protectionOf(outage.report, scale),
    restoration: restorationOf(restored.report, restored.value),
    nodesTurnedUnknown: restored.report.nodesTurnedUnknown,
    machinesReplaced: restored.report.machinesReplaced,
    costs: [steady.cost, outage.cost, restored.cost],
  };
};

const measure = async (directory: string, { target, quick, ...options }: BenchOptions): Promise<OutageResult> => {
  const base = quick ? quickly : usual;
  const size: SeedInit = { ...base, shoots: options.shoots ?? base.shoots, nodes: options.nodes ?? base.nodes };
  const world = startServed<SeedProcess>(new URL('../worlds/seed.ts', import.meta.url), size);
  try {
    const { kubeconfig } = await world.ready();
    const config = gardenConfig(kubeconfigSecretName, { scale: size.scale });
    const program = startTarget(target, { component: 'prober', config, kubeconfig, directory });
    try {
      const wait = { what: `${target.name} to probe every shoot`, withinMs: readyLimitMs };
      await waitForTarget(program, wait, async () => (await world.order('fewestProbes')) > 0);
      return await play({ world, program, size });
    } finally {
      await program.stop();
    }
  } finally {
    await world.end();
  }
};

export const runMassOutage = async (options: BenchOptions): Promise<PartResult> =>
  partResult(
    [await attempt('mass outage', (directory) => measure(directory, options))],
    (results) => results.map(markdownOf).join('\n\n'),
    failuresOf,
  );
