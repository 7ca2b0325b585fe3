import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type Scenario, createScenario } from '../../simulator/harness/scenario.ts';
import {
  type SimulatedReplica,
  type SimulatedReplicaOptions,
  electionSettings,
  leaseNamespace,
  startReplica,
} from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { allHeld, allUp, stateOf } from '../../simulator/harness/support.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';

// Two replicas and one shoot: an outage in which the leader cannot protect the shoot.

let scenario: Scenario;
let replicas: readonly SimulatedReplica[];
let cutAt: number;

const start = (
  name: string,
  standby: NonNullable<SimulatedReplicaOptions['standby']>,
  settings: Partial<SimulatedReplicaOptions['settings']> = {},
): SimulatedReplica =>
  startReplica(scenario, {
    settings: { ...gardenSettings, probeIntervalMs: 30_000, ...settings },
    leaderElection: electionSettings(true),
    dryRun: false,
    standby,
    random: createSeededRandom(name),
  });

/** Starts two replicas. The first one leads. */
const startBoth = async (
  standby: NonNullable<SimulatedReplicaOptions['standby']> = 'hot',
  leaderSettings: Partial<SimulatedReplicaOptions['settings']> = {},
): Promise<void> => {
  const { clock } = scenario;
  const leader = start('leader', standby, leaderSettings);
  await clock.advance(10_000);
  replicas = [leader, start('standby', standby)];
  await clock.advance(110_000);
};

const [leader, standby] = [() => replicas[0]!, () => replicas[1]!];

const cut = (): void => {
  cutAt = scenario.clock.monotonic();
  scenario.world.shoot('a').cutKubelets();
};

/** Seconds from the cut until all resources were scaled down; undefined before that. */
const downAfter = (): number | undefined => {
  const downs = scenario.changes.filter(({ to, at }) => to === 0 && at >= cutAt);
  return downs.length < 3 ? undefined : ((downs.at(-1)?.at ?? 0) - cutAt) / 1_000;
};

beforeEach(() => {
  scenario = createScenario({ shoots: [{ name: 'a', nodes: 12 }] });
  scenario.world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
});
afterEach(async () => {
  for (const { process: machine } of replicas) machine.kill();
  await scenario.stop();
});

const unharmed = { nodesTurnedUnknown: 0, machinesReplaced: 0 };

/** Faults of a leader. */
const fates: Readonly<Record<string, (of: SimulatedReplica) => void>> = {
  'is killed': ({ process: machine }) => machine.kill(),
  'is stopped by SIGSTOP': ({ process: machine }) => machine.suspend(),
  'is cut off from the seed': ({ seedConnection }) => seedConnection.setFaults(() => 'drop'),
  'is cut off from the shoots': (of) => of.shootConnection('a').setFaults(() => ({ unconnectedMs: 5_000 })),
  'cannot write': ({ seedConnection }) =>
    seedConnection.setFaults(({ method }) => (method === 'PATCH' ? 'drop' : undefined)),
};

describe.each(Object.entries(fates))('a leader that %s', (_, befall) => {
  it.each([-15, 0, 5, 10, 15, 18, 20, 21, 22, 25])('%d s after the cut: no node is lost', async (seconds) => {
    await startBoth();
    const { clock, world } = scenario;
    if (seconds < 0) befall(leader());
    await clock.advance(Math.max(0, -seconds * 1_000));
    cut();
    await clock.advance(Math.max(0, seconds * 1_000));
    if (seconds >= 0) befall(leader());
    await clock.advance(90_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(downAfter()).toBeLessThan(30);
    expect(world.shoot('a').impact()).toEqual(unharmed);
  });
});

const countsOf = async (replica: SimulatedReplica, cause: string): Promise<string | undefined> =>
  (await replica.meter.metricsText())
    .split('\n')
    .find((line) => line.startsWith('dwd_prober_protections_without_lead_total') && line.includes(`"${cause}"`));

describe('a standby', () => {
  it('reports why it scales down, and restores only when it leads', async () => {
    await startBoth();
    const { clock, world } = scenario;
    leader().process.kill();
    cut();
    await clock.advance(9_000);
    world.shoot('a').restoreKubelets();
    await clock.advance(60_000);
    expect(scenario.changes).toEqual([]);
    const other = start('other', 'hot');
    replicas = [...replicas, other];
    await clock.advance(60_000);
    cut();
    await clock.advance(10_000);
    // The first standby leads by now.
    standby().process.kill();
    await clock.advance(30_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(await countsOf(other, 'leader-silent')).toMatch(/ 1$/);
    expect(await countsOf(other, 'nothing-written')).toBeUndefined();
    const events = world.store.list(simKinds.Event, world.shoot('a').namespace);
    expect(events.map(({ reason, message }) => `${String(reason)}: ${String(message)}`)).toContainEqual(
      expect.stringMatching(
        /^MeltdownProtectionWithoutLead: protecting without the lead: the leader has not renewed for \d+\.\d s; none of 12/,
      ),
    );
    world.shoot('a').restoreKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(world.shoot('a').impact()).toEqual(unharmed);
  });

  it.each(['hot', 'warm'] as const)('that is %s does not act in an outage if the leader does', async (mode) => {
    await startBoth(mode);
    const before = standby().seedConnection.requests.total({ verb: 'patch' });
    cut();
    await scenario.clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(standby().seedConnection.requests.total({ verb: 'patch' })).toBe(before);
  });

  it('that is warm sends nothing, and acts on its watched objects as soon as it leads', async () => {
    await startBoth('warm');
    cut();
    await scenario.clock.advance(14_000);
    leader().process.kill();
    await scenario.clock.advance(14_000);
    expect(downAfter()).toBeUndefined();
    await scenario.clock.advance(8_000);
    expect(downAfter()).toBeLessThan(33);
    expect(scenario.world.shoot('a').impact()).toEqual(unharmed);
  });

  it('does not act on a shoot for ten minutes after the leader has restored what the standby had scaled down', async () => {
    await startBoth('hot', { nodeLeaseFailureFraction: 1, allSilentAfterMs: 0 });
    const { clock, world } = scenario;
    const some = world.shoot('a').store.list(simKinds.Node).slice(0, 9);
    world.shoot('a').cutKubelets(some.map(({ metadata }) => metadata.name));
    await clock.advance(40_000);
    expect(await countsOf(standby(), 'nothing-written')).toMatch(/ 1$/);
    await clock.advance(500_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(await countsOf(standby(), 'nothing-written')).toMatch(/ 1$/);
    await clock.advance(240_000);
    expect(await countsOf(standby(), 'nothing-written')).toMatch(/ 2$/);
    expect(await countsOf(standby(), 'leader-silent')).toBeUndefined();
  });

  it('costs a shoot two requests per interval, and the seed only reads of the Lease', async () => {
    await startBoth();
    const { clock } = scenario;
    const shoot = standby().shootConnection('a').requests;
    const seed = standby().seedConnection.requests;
    const count = () => [shoot.total(), seed.total({ resource: 'leases' }), seed.total()] as const;
    const [shootBefore, leasesBefore, seedBefore] = count();
    await clock.advance(600_000);
    const [shootAfter, leases, all] = count();
    // With an interval of 30 s, a healthy shoot is probed about every 20 s, so that an all-silent verdict comes in time.
    expect(shootAfter - shootBefore).toBeLessThanOrEqual(2 * 33);
    expect(all - seedBefore - (leases - leasesBefore)).toBeLessThanOrEqual(20);
  });
});
