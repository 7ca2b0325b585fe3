// All shoots of a seed fail in the same second: how long until the last of them is protected, and does recovery stampede?
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/runtime/index.ts';
import { type Program, startProgram } from '../test/e2e/support/program.ts';
import { waitFor } from '../test/envtest/waiting.ts';
import { cpuSecondsOf, cpuSecondsOfAll } from './mass-outage/cpu.ts';
import { protectionOf, restorationOf } from './mass-outage/evaluate.ts';
import type { WorldReport } from './mass-outage/protocol.ts';
import { type Cost, failuresOf, type Result, tell } from './mass-outage/tell.ts';
import { startWorld, type WorldProcess } from './mass-outage/world-process.ts';
import { gardenConfig, graceMs } from './support/garden-config.ts';

const shoots = Number(process.argv[2] ?? '250');
const deploymentsPerShoot = 3;
/** Two looks at every shoot. */
const steadyMs = 25_000;
/** Until KCM would have given up every node. */
const outageMs = graceMs + 15_000;
/** Scale-ups alone take three writes a shoot at five a second, their Events as much again. */
const restorationLimitMs = 2 * shoots * deploymentsPerShoot * 200 + 120_000;

const clock = systemClock();
const never = new AbortController().signal;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const startProber = async ({ ready }: WorldProcess, directory: string): Promise<Program> => {
  const [config, kubeconfig] = [join(directory, 'prober.yaml'), join(directory, 'seed.kubeconfig')];
  writeFileSync(config, gardenConfig(ready.kubeConfigSecretName));
  writeFileSync(kubeconfig, ready.kubeconfig, { mode: 0o600 });
  const addresses = ['--metrics-bind-addr=0', '--health-bind-addr=0'];
  const program = startProgram(['prober', `--config-file=${config}`, `--kubeconfig=${kubeconfig}`, ...addresses]);
  await waitFor({ what: 'a verdict on every shoot', withinMs: 120_000, everyMs: 500 }, async () => {
    const judged = program.lines().filter(({ msg }) => msg === 'verdict');
    return new Set(judged.map(({ namespace }) => namespace)).size === shoots ? true : undefined;
  }).catch((error: unknown) => {
    program.signal('SIGKILL');
    throw new Error(`${String(error)}\n${program.output().slice(0, 5_000)}`);
  });
  return program;
};

/** Runs one part of the story and says what it cost. */
const measured = async <T>(
  part: string,
  { world, prober }: { readonly world: WorldProcess; readonly prober: Program },
  play: () => Promise<T>,
): Promise<{ readonly value: T; readonly report: WorldReport; readonly cost: Cost }> => {
  say(part);
  const since = await world.order('measure');
  const [proberBefore, allBefore] = [cpuSecondsOf(prober.pid), cpuSecondsOfAll()];
  const value = await play();
  const proberCpuSeconds = cpuSecondsOf(prober.pid) - proberBefore;
  const allCpuSeconds = cpuSecondsOfAll() - allBefore;
  const seconds = (clock.now() - since) / 1_000;
  const report = await world.report();
  const { cpuSeconds: worldCpuSeconds, worstLoopDelayMs: worstWorldDelayMs, requests } = report;
  const cost = {
    part,
    seconds,
    proberCpuSeconds,
    worldCpuSeconds,
    otherCpuSeconds: allCpuSeconds - proberCpuSeconds - worldCpuSeconds,
    worstWorldDelayMs,
    seedRequests: requests.length,
  };
  return { value, report, cost };
};

const untilRestored = async (world: WorldProcess): Promise<void> => {
  const deadline = clock.now() + restorationLimitMs;
  while (clock.now() < deadline && (await world.report()).held > 0) await clock.sleep(5_000, never);
};

const play = async (world: WorldProcess, prober: Program): Promise<Result> => {
  const both = { world, prober };
  const steady = await measured('steady state', both, () => clock.sleep(steadyMs, never));
  const outage = await measured('outage', both, async () => {
    await world.order('cut');
    await clock.sleep(outageMs, never);
  });
  const restored = await measured('restoration', both, async () => {
    const at = await world.order('restore');
    await untilRestored(world);
    return at;
  });
  return {
    shoots,
    deploymentsPerShoot,
    protection: protectionOf(outage.report, deploymentsPerShoot),
    restoration: restorationOf(restored.report, restored.value),
    nodesTurnedUnknown: restored.report.nodesTurnedUnknown,
    machinesReplaced: restored.report.machinesReplaced,
    processors: availableParallelism(),
    costs: [steady.cost, outage.cost, restored.cost],
  };
};

const main = async (): Promise<number> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-mass-outage-'));
  const world = await startWorld(shoots);
  let prober: Program | undefined;
  try {
    prober = await startProber(world, directory);
    const result = await play(world, prober);
    process.stdout.write(`${tell(result)}\n`);
    return failuresOf(result).length === 0 ? 0 : 1;
  } finally {
    prober?.signal('SIGTERM');
    await prober?.ended;
    await world.end();
    rmSync(directory, { recursive: true, force: true });
  }
};

process.exitCode = await main();
