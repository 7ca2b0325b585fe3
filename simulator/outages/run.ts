import { simKinds } from '../apiserver/index.ts';
import {
  type Scenario,
  createScenario,
  electionSettings,
  leaseNamespace,
  prober,
  publishExternalKubeconfig,
  startReplica,
  weeder,
} from '../harness/index.ts';
import { createSeededRandom } from '../time/index.ts';
import { defaultTiming } from '../world/index.ts';
import { missingMs } from './facts.ts';
import { type End, type Handlers, turnsOf } from './faults.ts';
import type { SimEvent } from './history.ts';
import { type Checker, type Invariant, invariants, unrestored } from './invariants/index.ts';
import { Model } from './model.ts';
import type { Fault, Plan, PlannedFault } from './plan.ts';
import { podFaults } from './pod-faults.ts';
import { Processes, type ProcessesOptions } from './processes.ts';
import { Recorder } from './record.ts';
import { removeCluster, shootFaults } from './shoot-faults.ts';
import { NetworkFaults } from './network-faults.ts';
import { proberSettings, weederSettings } from './world-settings.ts';

export interface Violation {
  /** Name of the invariant. */
  readonly invariant: string;
  readonly problem: string;
  readonly at: number;
}

export interface Run {
  readonly plan: Plan;
  readonly violation: Violation | undefined;
  /** All events up to the violation, or up to the end. */
  readonly events: readonly SimEvent[];
  /** Length of the run in virtual milliseconds. */
  readonly lengthMs: number;
  readonly impact: { readonly nodesTurnedUnknown: number; readonly machinesReplaced: number };
}

const tickMs = 1_000;
/** The recovery is over when the world has been in its former state for this long without a break, and `quietMs` has passed. */
const steadyMs = 30_000;
/** Maximum time for the recovery, in addition to `quietMs`: a flapping shoot lands after a quarter of an hour at the latest. */
const healLimitMs = 1_300_000;
/** Time after the deletion of all shoots until all work for them has ended. */
const restMs = 20_000;
/** Extra time for a dry run: the recovery does not wait for its restorations, so one may still be pending, such as MCM's after its delay. */
const dryRestoreMs = 35_000;

const scenarioOf = (plan: Plan): Scenario => {
  const scenario = createScenario({
    seed: plan.seed,
    source: plan.source ?? 'gardener',
    timing: { observeMs: plan.observeMs ?? defaultTiming.observeMs },
    shoots: plan.shoots.map(({ name, nodes, graceMs, replicas }) => ({
      name,
      nodes,
      replicas,
      controlPlanePods: plan.component === 'weeder',
      ...(graceMs === undefined ? {} : { nodeMonitorGraceMs: graceMs }),
    })),
  });
  const { world } = scenario;
  if (plan.outside !== undefined) for (const { name } of world.shoots) publishExternalKubeconfig(scenario, name);
  world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
  return scenario;
};

/** Returns a function that starts a process of the plan's component. */
const creatorOf = (plan: Plan, scenario: Scenario, recorder: Recorder): ProcessesOptions['create'] => {
  const random = createSeededRandom(plan.seed);
  return (process, number) => {
    const options = {
      leaderElection: electionSettings(plan.elected),
      dryRun: plan.dryRun,
      random: random.fork(`process/${process}`),
      listen: recorder.listen(process),
    };
    if (plan.component === 'prober') {
      const replica = startReplica(prober(), scenario, { ...options, settings: proberSettings(plan, number) });
      return { ...replica, configure: (other) => replica.reload(proberSettings(plan, other)) };
    }
    const replica = startReplica(weeder, scenario, { ...options, settings: weederSettings(plan, number) });
    return { ...replica, configure: (other) => replica.reload(weederSettings(plan, other)) };
  };
};

class PlanRun {
  readonly #plan: Plan;
  readonly #scenario: Scenario;
  readonly #model: Model;
  readonly #checkers: readonly (readonly [string, Checker])[];
  readonly #events: SimEvent[] = [];
  #violation: Violation | undefined;
  readonly #recorder: Recorder;
  readonly #processes: Processes;
  readonly #faults: Handlers<Fault['kind']>;

  constructor(plan: Plan, checked: readonly Invariant[]) {
    const scenario = scenarioOf(plan);
    const { clock, world } = scenario;
    const model = new Model(plan, world);
    this.#model = model;
    this.#checkers = checked.map((invariant) => [invariant.name, invariant.begin(model)]);
    const recorder = new Recorder({ world, clock, emit: (event) => this.#take(event) });
    const networkFaults = new NetworkFaults(world, {
      random: createSeededRandom(plan.seed).fork('ways'),
      latencyMs: plan.latencyMs,
    });
    const processes = new Processes({
      ...{ clock, world, replicas: plan.replicas, create: creatorOf(plan, scenario, recorder) },
      faults: (...args) => networkFaults.rule(...args),
      note: (occurrence) => recorder.note(occurrence),
    });
    this.#plan = plan;
    this.#scenario = scenario;
    this.#recorder = recorder;
    this.#processes = processes;
    this.#faults = {
      ...networkFaults.handlers,
      ...processes.handlers,
      ...shootFaults({ shoots: plan.shoots, random: createSeededRandom(plan.seed), world, clock, networkFaults }),
      ...podFaults(world, clock),
    };
  }

  async play(): Promise<Run> {
    const { clock, world } = this.#scenario;
    await this.#playFaults();
    await this.#awaitRecovery();
    await this.#checkAtRest();
    const lengthMs = clock.monotonic();
    await this.#close();
    const impacts = world.shoots.map((shoot) => shoot.impact());
    return {
      plan: this.#plan,
      violation: this.#violation,
      events: this.#events,
      lengthMs,
      impact: {
        nodesTurnedUnknown: impacts.reduce((sum, impact) => sum + impact.nodesTurnedUnknown, 0),
        machinesReplaced: impacts.reduce((sum, impact) => sum + impact.machinesReplaced, 0),
      },
    };
  }

  /** Checks an event at once. Events after a violation are ignored. */
  #take(event: SimEvent): void {
    if (this.#violation !== undefined) return;
    this.#events.push(event);
    this.#model.apply(event);
    for (const [invariant, check] of this.#checkers) {
      const problem = check(event);
      if (problem !== undefined) this.#violation ??= { invariant, problem, at: event.at };
    }
  }

  #isOver(): boolean {
    return this.#violation !== undefined;
  }

  async #passUntil(instant: number): Promise<void> {
    const { clock } = this.#scenario;
    while (!this.#isOver() && clock.monotonic() < instant) {
      const next = Math.floor(clock.monotonic() / tickMs + 1) * tickMs;
      await clock.runUntil(Math.min(next, instant));
      if (clock.monotonic() === next) this.#recorder.note({ kind: 'tick' });
    }
  }

  async #playFaults(): Promise<void> {
    const ends = new Map<PlannedFault, End>();
    for (const { at, planned, phase } of turnsOf(this.#plan.faults)) {
      await this.#passUntil(at);
      if (this.#isOver()) return;
      this.#recorder.note({ kind: 'fault', phase, planned });
      if (phase === 'begins') ends.set(planned, this.#begin(planned.fault));
      else await ends.get(planned)?.();
    }
    await this.#passUntil(this.#plan.faultsMs);
    this.#recorder.note({ kind: 'healed' });
  }

  /** Begins a fault, and returns the function that ends it. */
  #begin(fault: Fault): End {
    return (this.#faults[fault.kind] as (fault: Fault) => End)(fault);
  }

  async #awaitRecovery(): Promise<void> {
    const { clock } = this.#scenario;
    const { quietMs } = this.#plan;
    const healedAt = clock.monotonic();
    let unsettledAt = healedAt;
    while (!this.#isOver()) {
      await this.#passUntil(clock.monotonic() + tickMs);
      const now = clock.monotonic();
      if (unrestored(this.#model).length > 0) unsettledAt = now;
      if (now - unsettledAt >= steadyMs && now - healedAt >= quietMs) break;
      if (now - healedAt >= healLimitMs + quietMs) break;
    }
    this.#recorder.note({ kind: 'settled' });
  }

  /**
   * Deletes all shoots, and records what each idle process holds. Weedings end by themselves. The last one may begin a whole crash back-off
   * later, because nothing shortens the back-off of the service's own pod, nor any back-off in a dry run.
   */
  async #checkAtRest(): Promise<void> {
    if (this.#isOver()) return;
    const { clock, world } = this.#scenario;
    for (const shoot of world.shoots) removeCluster(world, shoot);
    const { watchDurationMs: weedingMs = 0 } = this.#plan;
    const backOffMs = weedingMs > 0 ? defaultTiming.longestCrashBackOffMs : 0;
    const goneMs = this.#plan.source === 'secret' ? missingMs : 0;
    const dryMs = this.#plan.dryRun ? dryRestoreMs : 0;
    await this.#passUntil(clock.monotonic() + restMs + goneMs + dryMs + weedingMs + backOffMs);
    for (const [process, held] of await this.#processes.remains()) {
      this.#recorder.note({ kind: 'at rest', process, held });
    }
  }

  async #close(): Promise<void> {
    const processes = await this.#processes.stopAll();
    await this.#scenario.stop();
    const leftovers = { timers: this.#scenario.clock.pending, requests: this.#recorder.requests(), processes };
    this.#recorder.note({ kind: 'over', leftovers });
  }
}

/** Plays a plan. The same plan always gives the same run. The run ends at the first violation of an invariant. */
export const runPlan = (plan: Plan, checked = invariants): Promise<Run> => new PlanRun(plan, checked).play();
