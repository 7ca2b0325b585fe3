import { beforeEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';
import { ApiError } from '../../src/kubernetes/api/errors.ts';
import { createStory } from './support/story.ts';

// API servers that are away, for us or for everybody: what is an outage of nodes, and what is none.

const refused = new ApiError({
  code: 'ConnectionError',
  message: 'ECONNREFUSED',
  cause: { code: 'ECONNREFUSED', phase: 'connecting' },
});

/** Faults that cut only the prober off from the API server. Each begins the fault, and returns the function that ends it. */
const ours: readonly (readonly [string, (scenario: Scenario) => () => void])[] = [
  ...(
    [
      ['refused', { error: refused }],
      ['packets that are lost', { unconnectedMs: 10_000 }],
    ] as const
  ).map(([what, fault]) => {
    const begin = (scenario: Scenario) => {
      scenario.shootConnection('a').setFaults(() => fault);
      return () => scenario.shootConnection('a').setFaults(undefined);
    };
    return [what, begin] as const;
  }),
  [
    'a token that has expired',
    ({ world }) => {
      world.shoot('a').api.rotateToken();
      return () => world.shoot('a').publishKubeconfig();
    },
  ],
];

/** Maximum duration until all is held: an interval with jitter, the confirmation, and the lists and writes. */
const latestMs = 12_000 + 5_000 + 2_000;

describe.each(ours)('an outage during which the prober is cut off too (%s)', (_, begin) => {
  let scenario: Scenario;
  let end: () => void;
  beforeEach(async () => {
    scenario = createStory();
    scenario.startProber();
    await scenario.clock.advance(60_000);
    end = begin(scenario);
    scenario.world.shoot('a').cutKubelets();
    await scenario.clock.advance(45_000);
    expect(scenario.changes).toEqual([]);
  });

  it('leads to a scale-down as soon as the prober is connected again', async () => {
    end();
    await scenario.clock.advance(latestMs);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
  });

  it('scales nothing if it is over when the prober is connected again', async () => {
    scenario.world.shoot('a').restoreKubelets();
    await scenario.clock.advance(10_000);
    end();
    await scenario.clock.advance(60_000);
    expect(scenario.changes).toEqual([]);
  });
});

describe("a shoot's API server that becomes unreachable and returns", () => {
  it.each<{ how: 'refused' | 'silent'; ms: number; probeIntervalMs?: number; seed?: number }>([
    { how: 'refused', ms: 5_000 },
    ...[1, 2, 3, 4].flatMap((seed) => [
      { how: 'refused' as const, ms: 20_000, seed },
      { how: 'silent' as const, ms: 20_000, seed },
    ]),
    // Probes 30 s apart may not notice.
    ...[1, 3, 5].map((seed) => ({ how: 'refused' as const, ms: 25_000, probeIntervalMs: 30_000, seed })),
    { how: 'silent', ms: 60_000 },
    { how: 'refused', ms: 1_800_000 },
  ])('is no outage: %j', async ({ how, ms, probeIntervalMs = 10_000, seed = 0 }) => {
    const scenario = createStory({ seed, settings: { probeIntervalMs } });
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000 + 1_300 * seed);
    world.shoot('a').api.setReachability(how);
    await clock.advance(ms);
    world.shoot('a').api.setReachability('open');
    await clock.advance(120_000);
    expect(scenario.changes).toEqual([]);
    expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
  });

  it.each([10_000, 20_000, 40_000])('is no outage for a prober that starts %i ms before', async (beforeMs) => {
    const scenario = createStory();
    const { clock, world } = scenario;
    world.shoot('a').api.setReachability('refused');
    await clock.advance(60_000 - beforeMs);
    scenario.startProber();
    await clock.advance(beforeMs);
    world.shoot('a').api.setReachability('open');
    await clock.advance(120_000);
    expect(scenario.changes).toEqual([]);
  });

  const hourMs = 3_600_000;
  it.each([
    { nodes: 2, probeIntervalMs: 10_000, mostHolds: 0 },
    { nodes: 3, probeIntervalMs: 10_000, mostHolds: 0 },
    // Between two runs that are 30 s apart, 15 s of downtime may go unseen, and kubelets that hang need ten more to try again.
    { nodes: 3, probeIntervalMs: 30_000, mostHolds: 6 },
    { nodes: 12, probeIntervalMs: 30_000, mostHolds: 2 },
  ])(
    'for 15 s, about 250 times, is held $mostHolds times at most: $nodes nodes, probed every $probeIntervalMs ms',
    { timeout: 60_000 },
    async ({ nodes, probeIntervalMs, mostHolds }) => {
      const scenario = createStory({ shoots: [{ name: 'a', nodes }], settings: { probeIntervalMs }, seed: nodes });
      const { clock, world, changes } = scenario;
      const random = createSeededRandom(nodes).fork('stalls');
      scenario.startProber();
      await clock.advance(60_000);
      for (let count = 0; clock.monotonic() < 4 * hourMs; count += 1) {
        // Connections hang or are refused, and kubelets retry after their timeouts.
        world.shoot('a').api.setReachability(count % 2 === 0 ? 'silent' : 'refused');
        await clock.advance(15_000);
        world.shoot('a').api.setReachability('open');
        await clock.advance(40_000 + 30_000 * random.next());
      }
      await clock.advance(300_000);
      expect(
        changes.filter(({ name, to }) => name === 'machine-controller-manager' && to === 0).length,
      ).toBeLessThanOrEqual(mostHolds);
      expect(stateOf(scenario, 'a')).toEqual(allUp);
      expect(world.shoot('a').impact()).toMatchObject({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
    },
  );

  it('in the middle of a restoration delays a resource that was waiting for its initial delay', async () => {
    const scenario = createStory();
    const { clock, world } = scenario;
    await reachOutage(scenario);
    world.shoot('a').restoreKubelets();
    await clock.runUntil(() => stateOf(scenario, 'a').includes('kcm 1'));
    world.shoot('a').api.setReachability('refused');
    await clock.advance(120_000);
    // Its delay of 30 s has passed, but whether the nodes are reachable is unknown.
    expect(stateOf(scenario, 'a')).toContain('mcm 0 replicas=1 active=');
    world.shoot('a').api.setReachability('open');
    await clock.advance(45_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
  });
});

describe('an unreachable API server of the seed', () => {
  it.each([
    { how: 'refused', startsFirst: true },
    { how: 'silent', startsFirst: true },
    { how: 'refused', startsFirst: false },
  ] as const)('is awaited: %j', async ({ how, startsFirst }) => {
    const scenario = createStory();
    const { clock, world } = scenario;
    if (startsFirst) scenario.startProber();
    await clock.advance(60_000);
    world.api.setReachability(how);
    if (!startsFirst) scenario.startProber();
    await clock.advance(120_000);
    expect(scenario.shootConnection('a').requests.total() > 28).toBe(startsFirst);
    world.api.setReachability('open');
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
  });
});

it('the replacement of nodes one after the other is no outage', async () => {
  const scenario = createStory({ shoots: [{ name: 'a', nodes: 3 }] });
  const { clock, world, changes } = scenario;
  const { namespace, store } = world.shoot('a');
  const machines = () => world.store.list(simKinds.Machine, namespace);
  scenario.startProber();
  await clock.advance(60_000);
  const old = machines();
  for (const { metadata } of old) {
    world.store.patch(simKinds.Machine, metadata, (machine) => ({
      ...machine,
      status: { ...(machine.status as object), currentStatus: { phase: 'Failed', timeoutActive: false } },
    }));
    await clock.advance(400_000);
  }
  const names = new Set(old.map(({ metadata }) => metadata.name));
  expect(machines().filter(({ metadata }) => names.has(metadata.name))).toEqual([]);
  expect(store.list(simKinds.Node)).toHaveLength(3);
  expect(changes).toEqual([]);
});
