import { refKey } from '../../src/kubernetes/api/resource-ref.ts';
import { simKinds } from '../apiserver/index.ts';
import { type SimulatedReplica, electionSettings, leaseNamespace, prober, startReplica } from '../harness/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type World, createWorld, technicalName } from '../world/index.ts';
import { configuredFor, namesAt, replicasOf } from './components.ts';
import { type RehearsedKinds, initialCounts, populate, rehearsedKinds, startFollowers } from './dependents.ts';
import { type ActiveFault, createActiveFault, cutNodes, slowSeed, affectedShoots } from './faults.ts';
import type { RehearsalPlan } from './plan.ts';
import { type CountChange, type RehearsalRecord, type AffectedShoot, heldAfter, sumCounts } from './record.ts';
import { renewedAt } from './wrong-clocks.ts';

/** Length of a step of the run, in milliseconds. After each step, the stores of the shoots discard their history. */
const stepMs = 15_000;
/** Time after the outage until every kubelet has reconnected, and KCM and MCM have checked the nodes, in milliseconds. */
const afterOutageMs = 25_000;
/** Time from the end of a watchdog to its next start, in milliseconds. */
const restartMs = 10_000;
/** Time from the start of the leader to the start of its standby, in milliseconds. */
const standbyStartMs = 5_000;
/** Time from the beginning of the outage to the leader's death, in ms. Two seconds later, all nodes of a shoot are silent for long enough. */
const leaderDiesMs = 18_000;

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
      const [from, to] = [replicasOf(previous, kind), replicasOf(object, kind)];
      if (from !== to && byRef.has(key)) changes.push({ at: clock.monotonic(), shoot, key, from, to });
    });
  }
  return changes;
};

/** Creates the watchdog processes: one after the other, or a leader and its standby. */
const createWatchdogs = (plan: RehearsalPlan, world: World, clock: VirtualClock) => {
  const random = createSeededRandom(plan.seed);
  const lives: SimulatedReplica[] = [];
  const { settings, limits, fault } = plan;
  // One replica is enough to show the effect of a configuration. Only the death of a leader requires two.
  const leaderElection = electionSettings(fault.killsLeader === true);
  if (leaderElection.enabled) world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
  const start = (): void => {
    const life = `prober/${String(lives.length)}`;
    const options = { settings, limits, leaderElection, random: random.fork(life) };
    lives.push(startReplica(prober(), { world, clock }, options));
  };
  const killed = new Set<SimulatedReplica>();
  /** Kills the oldest process that is alive, and starts another one later. */
  const restart = (): void => {
    const victim = lives.find((life) => !killed.has(life));
    if (victim !== undefined) killed.add(victim);
    victim?.process.kill();
    clock.timer(restartMs, start);
  };
  return {
    start: () => {
      start();
      if (leaderElection.enabled) clock.timer(standbyStartMs, start);
    },
    restart,
    /** Makes the seed slow for the newest process, or normal again. */
    slowSeed: (isSlow: boolean) =>
      lives.at(-1)?.seedConnection.setFaults(isSlow ? slowSeed(random.fork('slow seed')) : undefined),
    stop: async () => {
      for (const life of lives.filter((each) => !killed.has(each))) {
        life.stop();
        await clock.run(life.ended);
      }
    },
    requests: () => ({
      seed: sumCounts(lives.map(({ seedConnection }) => seedConnection.requests)),
      shoots: sumCounts(lives.flatMap((life) => world.shoots.map(({ name }) => life.shootConnection(name).requests))),
    }),
  };
};

const takeStruck = (plan: RehearsalPlan, world: World, clock: VirtualClock): readonly AffectedShoot[] =>
  affectedShoots(world, plan.fault).map((shoot) => {
    const cut = new Set(cutNodes(shoot, plan.fault));
    const leases = shoot.store.list(simKinds.Lease).filter(({ metadata }) => cut.has(metadata.name));
    const renewals = leases.map((lease) => renewedAt(lease, clock) - clock.now() + clock.monotonic());
    return { shoot: shoot.name, renewals: renewals.toSorted((a, b) => a - b), nodes: plan.nodes };
  });

interface OutageOptions {
  readonly activeFault: ActiveFault;
  readonly watchdogs: ReturnType<typeof createWatchdogs>;
  readonly isProtected: boolean;
  /** Lets time pass until the instant. */
  readonly passUntil: (instant: number) => Promise<void>;
}

/** Plays the outage of a plan from its beginning to its end, with the failures of watchdogs that the fault includes. */
const playOutage = async (
  { fault, beginsAt, endsAt }: RehearsalPlan,
  { activeFault, watchdogs, isProtected, passUntil }: OutageOptions,
): Promise<void> => {
  activeFault.begin();
  if (fault.slowsSeed === true) watchdogs.slowSeed(true);
  if (fault.killsLeader === true) await passUntil(beginsAt + leaderDiesMs);
  if (isProtected && fault.killsLeader === true) watchdogs.restart();
  await passUntil((beginsAt + endsAt) / 2);
  if (isProtected && fault.restartsWatchdog === true) watchdogs.restart();
  await passUntil(endsAt);
  activeFault.end();
  if (fault.slowsSeed === true) watchdogs.slowSeed(false);
};

export interface Performance {
  readonly isProtected: boolean;
  /** Called from time to time with the elapsed virtual time, in milliseconds. */
  readonly onProgress?: ((playedMs: number) => void) | undefined;
}

/** Plays a plan. The same plan always gives the same run. The run ends early if nothing more can happen. */
export const playRehearsal = async (
  plan: RehearsalPlan,
  { isProtected, onProgress }: Performance,
): Promise<RehearsalRecord> => {
  const { seed, settings, source, beginsAt, endsAt } = plan;
  const clock = createVirtualClock({ turns: 1 });
  const kinds = rehearsedKinds(settings.dependentResources);
  const replicas = initialCounts(plan);
  const shoots = Array.from({ length: plan.shoots }, (_, index) => ({
    name: shootName(index),
    names: namesAt(settings, technicalName(shootName(index))),
    nodes: plan.nodes,
    replicas,
  }));
  const timing = { graceMs: settings.nodeMonitorGraceMs };
  const world = createWorld({ clock, seed, source, shoots, timing, kinds: kinds.served });
  populate(world, settings, kinds);
  const stopFollowers = startFollowers(world, clock, { ...kinds, settings });
  const changes = recordChanges(world, clock, { ...kinds, settings });
  const activeFault = createActiveFault(world, clock, plan.fault);
  const watchdogs = createWatchdogs(plan, world, clock);

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

  if (isProtected) watchdogs.start();
  await passUntil(beginsAt);
  const struck = takeStruck(plan, world, clock);
  await playOutage(plan, { activeFault, watchdogs, isProtected, passUntil });
  await passUntil(plan.durationMs, isQuiet);
  const endedAt = clock.monotonic();
  const impacts = new Map(world.shoots.map((shoot) => [shoot.name, shoot.impact()]));
  await watchdogs.stop();
  stopFollowers();
  world.stop();
  return {
    struck,
    changes: changes.filter(({ at }) => at <= endedAt),
    impacts,
    requests: watchdogs.requests(),
    endedAt,
  };
};
