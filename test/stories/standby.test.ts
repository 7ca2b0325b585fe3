import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import {
  type SimulatedReplica,
  electionSettings,
  leaseNamespace,
  prober,
  startReplica,
} from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { allHeld, allUp, stateOf } from '../../simulator/harness/support.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import type { ProberSettings, Standby } from '../../src/prober/index.ts';
import { createStory } from './support/story.ts';

// Two replicas and one shoot: an outage in which the leader cannot protect the shoot.

let scenario: Scenario;
let replicas: readonly SimulatedReplica[];
let cutAt: number;

const start = (name: string, standby: Standby, settings: Partial<ProberSettings> = {}): SimulatedReplica =>
  startReplica(prober(standby), scenario, {
    settings: { ...gardenSettings, probeIntervalMs: 30_000, ...settings },
    leaderElection: electionSettings(true),
    random: createSeededRandom(name),
  });

/** Starts two replicas. The first one leads. */
const startBoth = async (standby: Standby = 'hot', leaderSettings: Partial<ProberSettings> = {}): Promise<void> => {
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
  scenario = createStory({ shoots: [{ name: 'a', nodes: 12 }] });
  scenario.world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
});
afterEach(async () => {
  for (const { process: machine } of replicas) machine.kill();
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
  it.each([-15, 0, 10, 15, 20, 22, 25])('%d s after the cut: no node is lost', async (seconds) => {
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

const countOf = async (replica: SimulatedReplica): Promise<string | undefined> =>
  (await replica.meter.metricsText())
    .split('\n')
    .find((line) => line.startsWith('dwd_prober_protections_without_lead_total{'));

describe('a standby', () => {
  it('reports why it scales down, and restores only when it leads', async () => {
    await startBoth();
    const { clock, world } = scenario;
    cut();
    await clock.advance(15_000);
    leader().process.kill();
    await clock.advance(25_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(await countOf(standby())).toMatch(/ 1$/);
    const events = world.store.list(simKinds.Event, world.shoot('a').namespace);
    expect(events.map(({ reason, message }) => `${String(reason)}: ${String(message)}`)).toContainEqual(
      expect.stringMatching(
        /^MeltdownProtectionWithoutLead: Seed simulated: protecting without the lead: not everything is scaled down \d+\.\d s after the threshold; none of 12/,
      ),
    );
    world.shoot('a').restoreKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(world.shoot('a').impact()).toEqual(unharmed);
  });

  it('does not act in an outage if the leader does', async () => {
    await startBoth();
    const before = standby().seedConnection.requests.total({ verb: 'patch' });
    cut();
    await scenario.clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(standby().seedConnection.requests.total({ verb: 'patch' })).toBe(before);
    expect(await countOf(standby())).toBeUndefined();
  });

  it('goes on scaling down when a run of its own fails', async () => {
    await startBoth();
    leader().seedConnection.setFaults(({ method }) => (method === 'PATCH' ? 'drop' : undefined));
    // KCM is at 0 after a second, and the last level starts later.
    standby().seedConnection.setFaults(({ method }) => (method === 'PATCH' ? { delayMs: 1_000 } : undefined));
    cut();
    await scenario.clock.advance(23_500);
    standby()
      .shootConnection('a')
      .setFaults(() => 'drop');
    await scenario.clock.advance(30_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(scenario.world.shoot('a').impact()).toEqual(unharmed);
  });

  it('only observes beside a leader of another kind, which restores what it has not scaled down itself', async () => {
    await startBoth();
    const { clock, world } = scenario;
    // The Go program renews the Lease of its predecessor, with the annotations that it finds.
    const lease = { namespace: leaseNamespace, name: 'dwd-prober-leader-election' };
    leader().process.kill();
    const renew = (): void => {
      const { metadata, spec } = world.store.get(simKinds.Lease, lease)!;
      const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
      world.store.put(simKinds.Lease, { metadata, spec: { ...(spec as object), holderIdentity: 'go', renewTime } });
    };
    const renewing = new AbortController();
    const keep = (): void => {
      if (renewing.signal.aborted) return;
      renew();
      clock.timer(2_000, keep);
    };
    keep();
    await clock.advance(20_000);
    cut();
    await clock.advance(35_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    // The Go program ends; once its Lease has run out, the standby acts.
    renewing.abort();
    await clock.advance(25_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
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
