import { refKey } from '../../src/kubernetes/api/resource-ref.ts';
import { simKinds } from '../apiserver/index.ts';
import { type Replica, startReplica } from '../harness/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type World, createWorld } from '../world/index.ts';
import { type RehearsedKinds, populate, rehearsedKinds, replicasOf, startFollowers } from './dependents.ts';
import { createTrouble, cutNodes, slowSeed, struckShoots } from './faults.ts';
import type { RehearsalPlan } from './plan.ts';
import { type CountChange, type RehearsalRecord, type StruckShoot, heldAfter, sumCounts } from './record.ts';
import { renewedAt } from './wrong-clocks.ts';

/** Steps of the run, in milliseconds: between two of them the past is forgotten. */
const stepMs = 15_000;
/** After the outage: until every kubelet is back, and KCM and MCM have looked. */
const aftermathMs = 25_000;
/** From the end of a watchdog to its next start. */
const restartMs = 10_000;

const shootName = (index: number): string => `s${String(index + 1).padStart(3, '0')}`;

/** Off: whoever rehearses asks for the configuration, and one replica is enough for it. */
const leaderElection = {
  enabled: false,
  namespace: 'garden',
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

const recordChanges = (world: World, clock: VirtualClock, { byRef }: RehearsedKinds): readonly CountChange[] => {
  const changes: CountChange[] = [];
  const shootOf = new Map(world.shoots.map(({ name, namespace }) => [namespace, name]));
  for (const kind of new Set(byRef.values())) {
    world.store.subscribe(kind, ({ type, object, previous }) => {
      if (type !== 'MODIFIED' || previous === undefined) return;
      const [from, to] = [replicasOf(previous, kind), replicasOf(object, kind)];
      const { apiVersion, kind: name, metadata } = object;
      const key = refKey({ apiVersion, kind: name, name: metadata.name });
      const shoot = shootOf.get(metadata.namespace ?? '');
      if (from === to || shoot === undefined || !byRef.has(key)) return;
      changes.push({ at: clock.monotonic(), shoot, key, from, to });
    });
  }
  return changes;
};

/** The processes that protect, one after the other. */
const createWatchdogs = (plan: RehearsalPlan, world: World, clock: VirtualClock) => {
  const random = createSeededRandom(plan.seed);
  const lives: Replica[] = [];
  const { settings, limits } = plan;
  const start = (): void => {
    const options = { settings, limits, leaderElection, dryRun: false };
    const life = `prober/${String(lives.length)}`;
    lives.push(startReplica({ world, clock }, { ...options, random: random.fork(life) }));
  };
  return {
    start,
    restart: () => {
      lives.at(-1)?.machine.kill();
      clock.timer(restartMs, start);
    },
    /** For as long as the outage lasts. */
    slowSeed: (isSlow: boolean) =>
      lives.at(-1)?.seedLine.setFaults(isSlow ? slowSeed(random.fork('slow seed')) : undefined),
    stop: async () => {
      const last = lives.at(-1);
      last?.stop();
      if (last !== undefined) await clock.run(last.ended);
    },
    requests: () => ({
      seed: sumCounts(lives.map(({ seedLine }) => seedLine.requests)),
      shoots: sumCounts(lives.flatMap((life) => world.shoots.map(({ name }) => life.shootLine(name).requests))),
    }),
  };
};

const takeStruck = (plan: RehearsalPlan, world: World, clock: VirtualClock): readonly StruckShoot[] =>
  struckShoots(world, plan.fault).map((shoot) => {
    const cut = new Set(cutNodes(shoot, plan.fault));
    const leases = shoot.store.list(simKinds.Lease).filter(({ metadata }) => cut.has(metadata.name));
    const renewals = leases.map((lease) => renewedAt(lease, clock) - clock.now() + clock.monotonic());
    return { shoot: shoot.name, renewals: renewals.toSorted((a, b) => a - b), nodes: plan.nodes };
  });

export interface Performance {
  readonly isProtected: boolean;
  /** Hears now and then how much virtual time has passed, in milliseconds. */
  readonly onProgress?: ((playedMs: number) => void) | undefined;
}

/** Plays a plan: the same plan is the same run. It ends before its time when nothing is left that could happen. */
export const playRehearsal = async (
  plan: RehearsalPlan,
  { isProtected, onProgress }: Performance,
): Promise<RehearsalRecord> => {
  const { seed, settings, fault, beginsAt, endsAt } = plan;
  const clock = createVirtualClock({ turns: 1 });
  const kinds = rehearsedKinds(settings.dependentResources);
  const shoots = Array.from({ length: plan.shoots }, (_, index) => ({ name: shootName(index), nodes: plan.nodes }));
  const timing = { graceMs: settings.nodeMonitorGraceMs };
  const world = createWorld({ clock, seed, shoots, timing, kinds: kinds.served });
  populate(world, settings, kinds);
  const stopFollowers = startFollowers(world, clock, kinds);
  const changes = recordChanges(world, clock, kinds);
  const trouble = createTrouble(world, clock, fault);
  const watchdogs = createWatchdogs(plan, world, clock);

  /** Until `instant`, or until `isOver`. */
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
    return isHarmless && clock.monotonic() >= quietSince + aftermathMs;
  };

  if (isProtected) watchdogs.start();
  await passUntil(beginsAt);
  const struck = takeStruck(plan, world, clock);
  trouble.begin();
  if (fault.slowsSeed === true) watchdogs.slowSeed(true);
  await passUntil((beginsAt + endsAt) / 2);
  if (isProtected && fault.restartsWatchdog === true) watchdogs.restart();
  await passUntil(endsAt);
  trouble.end();
  if (fault.slowsSeed === true) watchdogs.slowSeed(false);
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
