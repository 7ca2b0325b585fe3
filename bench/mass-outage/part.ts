// All shoots of a seed fail in the same second: how long until the last of them is protected, and does recovery stampede?
import { availableParallelism } from 'node:os';
import { waitFor } from '../../test/envtest/waiting.ts';
import { cpuSecondsOfAll, usageOf } from '../support/cpu.ts';
import { gardenConfig, graceMs, probeIntervalMs } from '../support/garden-config.ts';
import { type BenchOptions, inScratch, type PartResult } from '../support/part.ts';
import { type RunningTarget, startTarget, type Target } from '../support/target.ts';
import { protectionOf, restorationOf } from './evaluate.ts';
import type { WorldReport } from './protocol.ts';
import { type Cost, failuresOf, type Result, tell } from './tell.ts';
import { startWorld, type WorldProcess } from './world-process.ts';

const deploymentsPerShoot = 3;
const defaultSize = { shoots: 250, nodes: 50 };
const quickSize = { shoots: 3, nodes: 3 };
/** All times of the world and of the configuration, for a quick run. */
const quickScale = 0.1;
/** A probe of every shoot. */
const steadyMs = 1.2 * probeIntervalMs;
/** Until KCM would have given up every node. */
const outageMs = graceMs + 15_000;
/** Programs may wait for their `initialDelay` first. */
const readyLimitMs = 180_000;

interface Play {
  readonly options: BenchOptions;
  readonly world: WorldProcess;
  readonly program: RunningTarget;
  readonly shoots: number;
  readonly scale: number;
}

const never = new AbortController().signal;

/** Scale-ups alone take three writes a shoot at five a second, their Events as much again. */
const restorationLimitMs = (shoots: number): number => 2 * shoots * deploymentsPerShoot * 200 + 120_000;

/** Runs one part of the story and says what it cost. */
const measured = async <T>(
  part: string,
  { options, world, program }: Play,
  play: () => Promise<T>,
): Promise<{ readonly value: T; readonly report: WorldReport; readonly cost: Cost }> => {
  options.say(`mass outage: ${part}`);
  const since = await world.order('measure');
  const [before, allBefore] = [usageOf(program.pid).cpuSeconds, cpuSecondsOfAll()];
  const value = await play();
  program.check();
  const programCpuSeconds = usageOf(program.pid).cpuSeconds - before;
  const allCpuSeconds = cpuSecondsOfAll() - allBefore;
  const seconds = (options.clock.now() - since) / 1_000;
  const report = await world.report();
  const { cpuSeconds: worldCpuSeconds, worstLoopDelayMs: worstWorldDelayMs, requests } = report;
  const cost = {
    part,
    seconds,
    programCpuSeconds,
    worldCpuSeconds,
    otherCpuSeconds: allCpuSeconds - programCpuSeconds - worldCpuSeconds,
    worstWorldDelayMs,
    seedRequests: requests.length,
  };
  return { value, report, cost };
};

const untilRestored = async ({ options: { clock }, world, program, shoots }: Play): Promise<void> => {
  const deadline = clock.now() + restorationLimitMs(shoots);
  while (clock.now() < deadline && (await world.report()).held > 0) {
    program.check();
    await clock.sleep(1_000, never);
  }
};

const play = async (target: Target, context: Play): Promise<Result> => {
  const { options, world, program, shoots, scale } = context;
  const { clock } = options;
  const steady = await measured('steady state', context, () => clock.sleep(steadyMs * scale, never));
  const outage = await measured('outage', context, async () => {
    await world.order('cut');
    await clock.sleep(outageMs * scale, never);
  });
  const restored = await measured('restoration', context, async () => {
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

const run = (target: Target, options: BenchOptions): Promise<Result> =>
  inScratch(async (directory) => {
    const { shoots, nodes } = { ...(options.quick ? quickSize : defaultSize), ...options };
    const scale = options.quick ? quickScale : 1;
    const world = await startWorld({ shoots, nodes, scale });
    let program: RunningTarget | undefined;
    try {
      const { kubeconfig, kubeConfigSecretName } = world.ready;
      const config = gardenConfig(kubeConfigSecretName, { scale });
      const started = startTarget(target, { component: 'prober', config, kubeconfig, directory });
      program = started;
      await waitFor({ what: `${target.name} to probe every shoot`, withinMs: readyLimitMs, everyMs: 500 }, async () => {
        started.check();
        return (await world.report()).fewestProbes > 0 ? true : undefined;
      });
      return await play(target, { options, world, program, shoots, scale });
    } finally {
      await program?.stop();
      await world.end();
    }
  });

export const runMassOutage = async (options: BenchOptions): Promise<PartResult> => {
  const results: Result[] = [];
  for (const target of options.targets) results.push(await run(target, options));
  return {
    markdown: results.map(tell).join('\n\n'),
    missed: results.flatMap((result) => failuresOf(result).map((failure) => `${result.target}: ${failure}`)),
    json: results,
  };
};
