import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createScenario } from '../../simulator/harness/scenario.ts';
import { allUp, stateOf } from '../../simulator/harness/support.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';

const hourMs = 3_600_000;

it.each([
  { nodes: 2, probeIntervalMs: 10_000, mostHolds: 0 },
  { nodes: 3, probeIntervalMs: 10_000, mostHolds: 0 },
  // Between two runs that are 30 s apart, 15 s of downtime may go unseen, and kubelets that hang need ten more to try again.
  { nodes: 3, probeIntervalMs: 30_000, mostHolds: 6 },
  { nodes: 12, probeIntervalMs: 30_000, mostHolds: 2 },
])(
  'an API server that is down for 15 s about 250 times is held $mostHolds times at most: $nodes nodes, probed every $probeIntervalMs ms',
  { timeout: 60_000 },
  async ({ nodes, probeIntervalMs, mostHolds }) => {
    const scenario = createScenario({ shoots: [{ name: 'a', nodes }], settings: { probeIntervalMs }, seed: nodes });
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
    await scenario.stop();
  },
);

it('the replacement of nodes one after the other is no outage', async () => {
  const scenario = createScenario({ shoots: [{ name: 'a', nodes: 3 }] });
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
  expect(machines().filter(({ metadata }) => old.some((machine) => machine.metadata.name === metadata.name))).toEqual(
    [],
  );
  expect(store.list(simKinds.Node)).toHaveLength(3);
  expect(changes).toEqual([]);
  await scenario.stop();
});
