import type { SimKind } from '../apiserver/index.ts';
import { type ReplicaWorld, prober, startReplica } from '../harness/index.ts';
import { type End, type Fault, NetworkFaults, Processes, nothing, shootFaults, turnsOf } from '../outages/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import {
  type ShootImpact,
  type World,
  createWorld,
  kubeControllerManager,
  technicalName,
  wantedOf,
} from '../world/index.ts';
import { workloadsAt } from './components.ts';
import { initialCounts, populate, rehearsedKinds } from './dependents.ts';
import type { RehearsalPlan } from './plan.ts';

/** A change of a dependent resource's replicas. Times: monotonic milliseconds. */
export interface CountChange {
  readonly at: number;
  readonly shoot: string;
  /** Kind and name. */
  readonly resource: string;
  /** True if it is the shoot's KCM. */
  readonly isManager: boolean;
  readonly from: number;
  readonly to: number;
}

/** The record of one run. */
export interface RehearsalRecord {
  readonly changes: readonly CountChange[];
  readonly impacts: ReadonlyMap<string, ShootImpact>;
  readonly endedAt: number;
}

/** Returns the shoots of which a resource is scaled down after the changes. */
export const heldAfter = (changes: readonly CountChange[]): ReadonlySet<string> => {
  const held = new Map<string, string>();
  for (const { shoot, resource, to } of changes) {
    if (to === 0) held.set(`${shoot} ${resource}`, shoot);
    else held.delete(`${shoot} ${resource}`);
  }
  return new Set(held.values());
};

/** Length of a step of the run, in milliseconds. After each step, the stores of the shoots discard their history. */
const stepMs = 15_000;
/** Time after the outage until every kubelet has reconnected, and KCM and MCM have checked the nodes, in milliseconds. */
const afterOutageMs = 25_000;

const shootName = (index: number): string => `s${String(index + 1).padStart(3, '0')}`;

const recordChanges = (
  world: World,
  clock: VirtualClock,
  { kinds, managers }: { readonly kinds: Iterable<SimKind>; readonly managers: ReadonlyMap<string, string> },
): readonly CountChange[] => {
  const changes: CountChange[] = [];
  const shootOf = new Map(world.shoots.map(({ name, namespace }) => [namespace, name]));
  for (const kind of new Set(kinds)) {
    world.store.subscribe(kind, ({ object, previous }) => {
      const { name, namespace = '' } = object.metadata;
      const shoot = shootOf.get(namespace);
      if (previous === undefined || shoot === undefined) return;
      const [from, to] = [wantedOf(previous), wantedOf(object)];
      const about = { shoot, resource: `${kind.kind}/${name}`, isManager: managers.get(shoot) === name };
      if (from !== to) changes.push({ at: clock.monotonic(), ...about, from, to });
    });
  }
  return changes;
};

/** Starts the prober. One process is enough to show the effect of a configuration. */
const startProber = (
  { settings, limits, seed }: RehearsalPlan,
  { world, clock }: ReplicaWorld & { readonly clock: VirtualClock },
  networkFaults: NetworkFaults,
): Processes => {
  const random = createSeededRandom(seed);
  return new Processes({
    ...{ world, clock, replicas: 1 },
    create: (name) =>
      startReplica(prober(), { world, clock }, { settings, limits, random: random.fork(`prober/${name}`) }),
    faults: (replica, server) => networkFaults.rule(replica, server),
  });
};

export interface Performance {
  readonly isProtected: boolean;
  /** Called from time to time with the elapsed virtual time, in milliseconds. */
  readonly onProgress?: ((playedMs: number) => void) | undefined;
}

/** Creates the plan's world, with the resources that the settings name. */
const openWorld = (plan: RehearsalPlan, clock: VirtualClock) => {
  const { seed, settings, source, nodes } = plan;
  const kinds = rehearsedKinds(settings.dependentResources);
  const shoots = Array.from({ length: plan.shoots }, (_, index) => ({
    name: shootName(index),
    workloads: workloadsAt(settings, technicalName(shootName(index)), kinds.byRef),
    nodes,
    replicas: initialCounts(plan),
  }));
  const timing = { graceMs: settings.nodeMonitorGraceMs };
  const workloads = [...kinds.byRef.values()];
  const world = createWorld({ clock, seed, source, shoots, timing, kinds: kinds.served, workloads });
  populate(world, settings, kinds);
  const managers = new Map(
    shoots.map(({ name, workloads: { [kubeControllerManager]: manager } }) => [
      name,
      manager?.name ?? kubeControllerManager,
    ]),
  );
  return { world, changes: recordChanges(world, clock, { kinds: workloads, managers }) };
};

/** Plays a plan. The same plan always gives the same run. The run ends early if nothing more can happen. */
export const playRehearsal = async (
  plan: RehearsalPlan,
  { isProtected, onProgress }: Performance,
): Promise<RehearsalRecord> => {
  const { seed, beginsAt, endsAt, nodes } = plan;
  const clock = createVirtualClock({ turns: 1 });
  const { world, changes } = openWorld(plan, clock);
  const networkFaults = new NetworkFaults(world, { random: createSeededRandom(seed), latencyMs: 0 });
  const processes = isProtected ? startProber(plan, { world, clock }, networkFaults) : undefined;
  const handlers: Partial<Record<Fault['kind'], unknown>> = {
    ...networkFaults.handlers,
    ...shootFaults({ random: createSeededRandom(seed), world, clock, networkFaults }),
    ...processes?.handlers,
  };
  /** Begins a fault. Without a prober, its faults do nothing. */
  const begin = (fault: Fault): End =>
    (handlers[fault.kind] as ((fault: Fault) => End) | undefined)?.(fault) ?? nothing;

  /** Lets time pass until `instant`, or until `isOver` returns true. */
  const passUntil = async (instant: number, isOver: () => boolean = () => false): Promise<void> => {
    while (clock.monotonic() < instant && !isOver()) {
      await clock.runUntil(Math.min(clock.monotonic() + stepMs, instant));
      for (const { store } of world.shoots) store.compact();
      onProgress?.(clock.monotonic());
    }
  };
  const isUnharmed = (): boolean => world.shoots.every((shoot) => shoot.impact().nodesTurnedUnknown === 0);
  const isQuiet = (): boolean => {
    const quietSince = Math.max(endsAt, changes.at(-1)?.at ?? 0);
    const isHarmless = !isProtected || (heldAfter(changes).size === 0 && isUnharmed());
    return isHarmless && clock.monotonic() >= quietSince + afterOutageMs;
  };

  const outage = { at: beginsAt, forMs: endsAt - beginsAt, shoots: world.shoots.map(({ name }) => name), nodes };
  const ends = new Map<object, End>();
  for (const { at, planned, phase } of turnsOf(plan.fault.faultsOf(outage))) {
    await passUntil(at);
    if (phase === 'begins') ends.set(planned, begin(planned.fault));
    else await ends.get(planned)?.();
  }
  await passUntil(endsAt);
  await passUntil(plan.durationMs, isQuiet);
  const endedAt = clock.monotonic();
  const impacts = new Map(world.shoots.map((shoot) => [shoot.name, shoot.impact()]));
  await processes?.stopAll();
  world.stop();
  return { impacts, endedAt, changes: changes.filter(({ at }) => at <= endedAt) };
};
