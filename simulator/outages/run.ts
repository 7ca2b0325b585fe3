import { simKinds } from '../apiserver/index.ts';
import { createScenario, leaseNamespace, publishOutside } from '../harness/index.ts';
import { createSeededRandom } from '../time/index.ts';
import { type WorldTiming, defaultTiming } from '../world/index.ts';
import { heldBy } from './held.ts';
import type { SimEvent } from './history.ts';
import { unrestored } from './invariants/restoration.ts';
import { type Violation, createJudge } from './judge.ts';
import type { Plan, PlannedFault } from './plan.ts';
import { createProcesses } from './processes.ts';
import { createRecorder } from './record.ts';
import { rulesOf } from './rules.ts';
import { createFaultInjector } from './fault-injector.ts';
import type { Model } from './model.ts';
import { type End, createWays } from './way-faults.ts';

export interface Run {
  readonly plan: Plan;
  readonly violation: Violation | undefined;
  /** Everything up to the violation, or the end. */
  readonly events: readonly SimEvent[];
  /** Length of the run in virtual milliseconds. */
  readonly lengthMs: number;
  readonly impact: { readonly nodesTurnedUnknown: number; readonly machinesReplaced: number };
}

const tickMs = 1_000;
/** The world has to be as it was so long at a stretch, and before that much of quiet is over. */
const steadyMs = 30_000;
const healLimitMs = 300_000;
/** Until what ends with shoots has ended. */
const restMs = 20_000;

const quickPods: Partial<WorldTiming> = {
  podStartMs: 1_000,
  podEndMs: 500,
  readinessDelayMs: 1_000,
  probePeriodMs: 1_000,
  dependencyTimeoutMs: 500,
};

interface Turn {
  readonly at: number;
  readonly planned: PlannedFault;
  readonly phase: 'begins' | 'ends';
}

const turnsOf = ({ faults }: Plan): readonly Turn[] =>
  faults
    .flatMap((planned): Turn[] => [
      { at: planned.at, planned, phase: 'begins' },
      { at: planned.at + planned.forMs, planned, phase: 'ends' },
    ])
    .sort((a, b) => a.at - b.at);

/** Something is not as it was, or something is weeded. */
const isUnsettled = (model: Model, plan: Plan): boolean => {
  if (plan.component === 'prober') return unrestored(model).length > 0;
  const { longestMs } = rulesOf(plan).weeding;
  const spells = [...model.shoots.values()].flatMap(({ controlPlane }) => [...controlPlane.spells.values()].flat());
  return spells.some(({ from, to }) => to === undefined && model.at - from < longestMs);
};

/** Plays a plan: the same plan is the same run. Ends at the first violation. */
export const runPlan = async (plan: Plan): Promise<Run> => {
  const scenario = createScenario({
    seed: plan.seed,
    timing: plan.quickPods === true ? quickPods : {},
    shoots: plan.shoots.map(({ name, nodes, graceMs, replicas }) => ({
      name,
      nodes,
      replicas,
      controlPlanePods: plan.component === 'weeder',
      ...(graceMs === undefined ? {} : { nodeMonitorGraceMs: graceMs }),
    })),
  });
  const { clock, world } = scenario;
  if (plan.outside !== undefined) for (const { name } of world.shoots) publishOutside(scenario, name);
  world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
  const judge = createJudge(plan);
  const recorder = createRecorder({ world, clock, emit: (event) => judge.take(event) });
  const ways = createWays(world, { random: createSeededRandom(plan.seed).fork('ways'), latencyMs: plan.latencyMs });
  const processes = createProcesses({ plan, scenario, recorder, faults: (...way) => ways.rule(...way) });
  const troubles = createFaultInjector({ plan, world, clock, ways, processes });
  const isOver = (): boolean => judge.violation() !== undefined;

  const passUntil = async (instant: number): Promise<void> => {
    while (!isOver() && clock.monotonic() < instant) {
      const next = Math.floor(clock.monotonic() / tickMs + 1) * tickMs;
      await clock.runUntil(Math.min(next, instant));
      if (clock.monotonic() === next) recorder.note({ kind: 'tick' });
    }
  };

  const suffer = async (): Promise<void> => {
    const ends = new Map<PlannedFault, End>();
    for (const { at, planned, phase } of turnsOf(plan)) {
      await passUntil(at);
      if (isOver()) return;
      recorder.note({ kind: 'fault', phase, planned });
      if (phase === 'begins') ends.set(planned, troubles.begin(planned));
      else await ends.get(planned)?.();
    }
    await passUntil(plan.troubledMs);
    recorder.note({ kind: 'healed' });
  };

  const heal = async (): Promise<void> => {
    const healedAt = clock.monotonic();
    let wrongAt = healedAt;
    while (!isOver()) {
      await passUntil(clock.monotonic() + tickMs);
      const now = clock.monotonic();
      if (isUnsettled(judge.model(), plan)) wrongAt = now;
      if (now - wrongAt >= steadyMs && now - healedAt >= plan.quietMs) break;
      if (now - healedAt >= healLimitMs + plan.quietMs) break;
    }
    recorder.note({ kind: 'settled' });
  };

  /**
   * All shoots go. Weedings end by themselves. The latest may begin as late as a crash back-off after it: nobody cuts that of the service's own
   * pod short, nor any in a dry run.
   */
  const rest = async (): Promise<void> => {
    if (isOver()) return;
    for (const { namespace } of world.shoots) world.store.remove(simKinds.Cluster, { name: namespace });
    const { watchDurationMs: weedingMs = 0 } = plan;
    const backOffMs = weedingMs > 0 ? defaultTiming.longestCrashBackOffMs : 0;
    await passUntil(clock.monotonic() + restMs + weedingMs + backOffMs);
    for (const [life, watchdog] of processes.running()) {
      recorder.note({ kind: 'at rest', life, held: await heldBy(watchdog, { world, clock }) });
    }
  };

  const close = async (): Promise<void> => {
    const left = await processes.stopAll();
    await scenario.stop();
    const exchanges = judge.model().exchanges.size;
    recorder.note({ kind: 'over', leftovers: { timers: clock.pending, exchanges, processes: left } });
  };

  await suffer();
  await heal();
  await rest();
  const lengthMs = clock.monotonic();
  await close();
  const impacts = world.shoots.map((shoot) => shoot.impact());
  return {
    plan,
    violation: judge.violation(),
    events: judge.events(),
    lengthMs,
    impact: {
      nodesTurnedUnknown: impacts.reduce((sum, impact) => sum + impact.nodesTurnedUnknown, 0),
      machinesReplaced: impacts.reduce((sum, impact) => sum + impact.machinesReplaced, 0),
    },
  };
};
