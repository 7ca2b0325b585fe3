// All shoots of a seed fail in the same second: how long until the last of them is protected, and does the recovery overload the seed?
import { availableParallelism } from 'node:os';
import { startCost } from '../harness/cost.ts';
import { usageOf } from '../harness/cpu.ts';
import { probeIntervalMs } from '../harness/garden-config.ts';
import { type BenchOptions, type PartResult, measureEachTarget, never, partResult } from '../harness/part.ts';
import { type RunningTarget, type Target, startTarget, waitForTarget } from '../harness/target.ts';
import type { OutageReport } from '../worlds/outage.ts';
import { protectionOf, restorationOf } from './outage-figures.ts';
import { type OutageResult, type PhaseCost, failuresOf, markdownOf } from './outage-tables.ts';
import { type OutageWorld, outageMs, readyLimitMs, withOutageWorld } from './outage-world.ts';

const deploymentsPerShoot = 3;
const usualSize = { shoots: 250, nodes: 50 };
/** Long enough for a probe of every shoot. */
const steadyMs = 1.2 * probeIntervalMs;

/** Scale-ups take three writes per shoot at five a second, and their Events as long again. */
const restorationLimitMs = (shoots: number): number => 2 * shoots * deploymentsPerShoot * 200 + 120_000;

interface Play extends Pick<OutageWorld, 'world' | 'size'> {
  readonly options: BenchOptions;
  readonly program: RunningTarget;
}

interface Phase<T> {
  readonly value: T;
  readonly report: OutageReport;
  readonly cost: PhaseCost;
}

const measurePhase = async <T>(part: string, context: Play, play: () => Promise<T>): Promise<Phase<T>> => {
  const { options, world, program } = context;
  options.say(`mass outage: ${part}`);
  await world.order('measure');
  const endCost = startCost(options.clock, { program: [program.pid], world: [world.pid] });
  const value = await play();
  program.check();
  const { seconds, cpu, otherCpuSeconds } = endCost();
  const report = await world.order('report');
  const cost = {
    part,
    seconds,
    programCpuSeconds: cpu.program,
    worldCpuSeconds: cpu.world,
    otherCpuSeconds,
    worstWorldDelayMs: report.worstLoopDelayMs,
    seedRequests: report.requests.length,
  };
  return { value, report, cost };
};

const untilRestored = async ({ options: { clock }, world, program, size }: Play): Promise<void> => {
  const deadline = clock.now() + restorationLimitMs(size.shoots);
  while (clock.now() < deadline && (await world.order('report')).held > 0) {
    program.check();
    await clock.sleep(1_000, never);
  }
};

const play = async (target: Target, context: Play): Promise<OutageResult> => {
  const { options, world, program, size } = context;
  const { scale, shoots } = size;
  const { clock } = options;
  const steady = await measurePhase('steady state', context, () => clock.sleep(steadyMs * scale, never));
  const outage = await measurePhase('outage', context, async () => {
    await world.order('cut');
    await clock.sleep(outageMs * scale, never);
  });
  const restored = await measurePhase('restoration', context, async () => {
    const at = await world.order('restore');
    await untilRestored(context);
    return at;
  });
  return {
    target: target.name,
    shoots,
    deploymentsPerShoot,
    protection: protectionOf(outage.report, { deployments: deploymentsPerShoot, scale }),
    restoration: restorationOf(restored.report, restored.value),
    nodesTurnedUnknown: restored.report.nodesTurnedUnknown,
    machinesReplaced: restored.report.machinesReplaced,
    peakBytes: usageOf(program.pid).peakBytes,
    processors: availableParallelism(),
    costs: [steady.cost, outage.cost, restored.cost],
  };
};

const measure = (target: Target, directory: string, options: BenchOptions): Promise<OutageResult> =>
  withOutageWorld(options, usualSize, async ({ world, size, start }) => {
    const program = startTarget(target, { ...start, directory });
    try {
      await waitForTarget(
        program,
        { what: `${target.name} to probe every shoot`, withinMs: readyLimitMs },
        async () => (await world.order('report')).fewestProbes > 0,
      );
      return await play(target, { options, world, program, size });
    } finally {
      await program.stop();
    }
  });

export const runMassOutage = async (options: BenchOptions): Promise<PartResult> => {
  const run = (target: Target, directory: string) => measure(target, directory, options);
  const markdown = (results: readonly OutageResult[]): string => results.map(markdownOf).join('\n\n');
  return partResult(await measureEachTarget('mass outage', options, run), markdown, failuresOf);
};
