import { refKey } from '../../src/kubernetes/api/resource-ref.ts';
import { simKinds } from '../apiserver/index.ts';
import { type SimulatedReplica, prober, startReplica } from '../harness/index.ts';
import { type End, type Fault, NetworkFaults, Processes, nothing, shootFaults, turnsOf } from '../outages/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import type { RequestCounts } from '../network/index.ts';
import { type ShootImpact, type World, createWorld, technicalName, wantedOf } from '../world/index.ts';
import { configuredFor, workloadsAt } from './components.ts';
import { type RehearsedKinds, initialCounts, populate, rehearsedKinds } from './dependents.ts';
import { cutNodes } from './faults.ts';
import type { RehearsalPlan } from './plan.ts';

/** A change of a dependent resource's replicas. Times: monotonic milliseconds. */
export interface CountChange {
  readonly at: number;
  readonly shoot: string;
  /** `refKey` of the resource, as it is configured. */
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** A shoot that the fault affects, at the beginning of the outage. */
export interface AffectedShoot {
  readonly shoot: string;
  /** Times of the last renewals of the leases of nodes that are cut off, ascending. */
  readonly renewals: readonly number[];
  readonly nodes: number;
}

/** The record of one run. */
export interface RehearsalRecord {
  readonly struck: readonly AffectedShoot[];
  readonly changes: readonly CountChange[];
  readonly impacts: ReadonlyMap<string, ShootImpact>;
  readonly requests: {
    /** Number of requests by `verb resource`. */
    readonly seed: ReadonlyMap<string, number>;
    readonly shoots: ReadonlyMap<string, number>;
  };
  readonly endedAt: number;
}

/** Adds up request counts. */
const sumCounts = (counts: readonly RequestCounts[]): ReadonlyMap<string, number> => {
  const sum = new Map<string, number>();
  for (const { byKey } of counts) for (const [key, count] of byKey) sum.set(key, (sum.get(key) ?? 0) + count);
  return sum;
};

/** Returns the resources that are scaled down after the changes, each as its shoot and its key. */
export const heldAfter = (changes: readonly CountChange[]): ReadonlySet<string> => {
  const held = new Set<string>();
  for (const { shoot, key, to } of changes) {
    if (to === 0) held.add(`${shoot} ${key}`);
    else held.delete(`${shoot} ${key}`);
  }
  return held;
};

/** Length of a step of the run, in milliseconds. After each step, the stores of the shoots discard their history. */
const stepMs = 15_000;
/** Time after the outage until every kubelet has reconnected, and KCM and MCM have checked the nodes, in milliseconds. */
const afterOutageMs = 25_000;

const shootName = (index: number): string => `s${String(index + 1).padStart(3, '0')}`;

const recordChanges = (
  world: World,
  clock: VirtualClock,
  { byRef, settings }: RehearsedKinds & Pick<RehearsalPlan, 'settings'>,
): readonly CountChange[] => {
  const changes: CountChange[] = [];
  const shootOf = new Map(world.shoots.map(({ name, namespace }) => [namespace, name]));
  for (const kind of new Set(byRef.values())) {
    world.store.subscribe(kind, ({ type, object, previous }) => {
      if (type !== 'MODIFIED' || previous === undefined) return;
      const resource = configuredFor(settings, object);
      const shoot = shootOf.get(object.metadata.namespace ?? '');
      if (resource === undefined || shoot === undefined) return;
      const key = refKey(resource.ref);
      const [from, to] = [wantedOf(previous), wantedOf(object)];
      if (from !== to && byRef.has(key)) changes.push({ at: clock.monotonic(), shoot, key, from, to });
    });
  }
  return changes;
};

/** Starts the prober, with its paths to API servers. One process is enough to show the effect of a configuration. `lives`: all of its starts so far. */
const startProber = (
  plan: RehearsalPlan,
  { world, clock }: { readonly world: World; readonly clock: VirtualClock },
  networkFaults: NetworkFaults,
) => {
  const { settings, limits, seed } = plan;
  const random = createSeededRandom(seed);
  const lives: SimulatedReplica[] = [];
  const processes = new Processes({
    ...{ world, clock, replicas: 1 },
    create: (name) => {
      const options = { settings, limits, random: random.fork(`prober/${name}`) };
      const life = startReplica(prober(), { world, clock }, options);
      lives.push(life);
      return life;
    },
    faults: (replica, server) => networkFaults.rule(replica, server),
  });
  return { processes, lives };
};

/** Returns a function that begins a fault. Without probers, theirs do nothing. */
const beginnerOf = (
  { seed }: RehearsalPlan,
  {
    world,
    clock,
    processes,
    networkFaults,
  }: {
    readonly world: World;
    readonly clock: VirtualClock;
    readonly networkFaults: NetworkFaults;
    readonly processes: Processes | undefined;
  },
): ((fault: Fault) => End) => {
  const handlers: Partial<Record<Fault['kind'], unknown>> = {
    ...networkFaults.handlers,
    ...shootFaults({ random: createSeededRandom(seed), world, clock, networkFaults }),
    ...processes?.handlers,
  };
  return (fault) => (handlers[fault.kind] as ((fault: Fault) => End) | undefined)?.(fault) ?? nothing;
};

/** Follows the renewals of all leases, in true time. */
const followRenewals = (world: World, clock: VirtualClock): ReadonlyMap<string, number> => {
  const renewals = new Map<string, number>();
  for (const { name, store } of world.shoots) {
    store.subscribe(simKinds.Lease, ({ object }) => renewals.set(`${name}/${object.metadata.name}`, clock.monotonic()));
  }
  return renewals;
};

const takeStruck = (
  { fault, nodes }: RehearsalPlan,
  world: World,
  renewals: ReadonlyMap<string, number>,
): readonly AffectedShoot[] => {
  const struck = fault.strikes === 'all' ? world.shoots : world.shoots.slice(0, fault.strikes === 'one' ? 1 : 0);
  return struck.map(({ name: shoot, store }) => {
    const all = store.list(simKinds.Node);
    const renewed = cutNodes(nodes, fault).flatMap(
      (node) => renewals.get(`${shoot}/${all[node]?.metadata.name ?? ''}`) ?? [],
    );
    return { shoot, renewals: renewed.toSorted((a, b) => a - b), nodes };
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
  return {
    world,
    changes: recordChanges(world, clock, { ...kinds, settings }),
    renewals: followRenewals(world, clock),
  };
};

/** Plays a plan. The same plan always gives the same run. The run ends early if nothing more can happen. */
export const playRehearsal = async (
  plan: RehearsalPlan,
  { isProtected, onProgress }: Performance,
): Promise<RehearsalRecord> => {
  const { seed, beginsAt, endsAt, nodes } = plan;
  const clock = createVirtualClock({ turns: 1 });
  const { world, changes, renewals } = openWorld(plan, clock);
  const networkFaults = new NetworkFaults(world, { random: createSeededRandom(seed), latencyMs: 0 });

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

  const { processes, lives } = isProtected ? startProber(plan, { world, clock }, networkFaults) : { lives: [] };
  const begin = beginnerOf(plan, { world, clock, networkFaults, processes });
  const outage = { at: beginsAt, forMs: endsAt - beginsAt, shoots: world.shoots.map(({ name }) => name), nodes };
  const ends = new Map<object, End>();
  let struck: readonly AffectedShoot[] = [];
  for (const { at, planned, phase } of turnsOf(plan.fault.faultsOf(outage))) {
    await passUntil(at);
    if (at === beginsAt && phase === 'begins') struck = takeStruck(plan, world, renewals);
    if (phase === 'begins') ends.set(planned, begin(planned.fault));
    else await ends.get(planned)?.();
  }
  await passUntil(endsAt);
  await passUntil(plan.durationMs, isQuiet);
  const endedAt = clock.monotonic();
  const impacts = new Map(world.shoots.map((shoot) => [shoot.name, shoot.impact()]));
  await processes?.stopAll();
  world.stop();
  return {
    ...{ struck, impacts, endedAt, changes: changes.filter(({ at }) => at <= endedAt) },
    requests: {
      seed: sumCounts(lives.map(({ seedConnection }) => seedConnection.requests)),
      shoots: sumCounts(lives.flatMap((life) => world.shoots.map(({ name }) => life.shootConnection(name).requests))),
    },
  };
};
