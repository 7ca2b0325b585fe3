import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario, ScenarioOptions } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, reachOutage, stateOf, changeLines } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

const create = (options: Partial<ScenarioOptions> = {}): Scenario => {
  const scenario = createStory({ shoots: [{ name: 'a' }, { name: 'b' }], ...options });
  return scenario;
};

const readyStates = ({ world }: Scenario, shoot: string): readonly string[] =>
  world
    .shoot(shoot)
    .store.list(simKinds.Node)
    .map((node) => (node.status as { conditions: { type: string; status: string }[] }).conditions)
    .map((conditions) => conditions.find(({ type }) => type === 'Ready')!.status);

/** Verdicts in the log, in order. Only changes are logged. */
const verdictsOf = ({ log }: Scenario): readonly unknown[] =>
  log.filter(({ msg, namespace }) => msg === 'verdict' && namespace === 'shoot--sim--a').map(({ verdict }) => verdict);

describe('outage of one shoot', () => {
  it('scales down in the order of levels, with both annotations, before KCM marks a node', async () => {
    const scenario = create({ shoots: [{ name: 'a', replicas: { 'machine-controller-manager': 3 } }, { name: 'b' }] });
    await reachOutage(scenario);
    // After 20 s without a renewal the verdict is `confirming`, 2 s later `unhealthy`.
    expect(verdictsOf(scenario)).toEqual(['healthy', 'confirming', 'unhealthy']);
    expect(changeLines(scenario.changes)).toEqual([
      'mcm 3->0 replicas=3 active=',
      'ca 1->0 replicas=1 active=',
      'kcm 1->0 replicas=1 active=',
    ]);
    const [mcm, ca, kcm] = scenario.changes;
    const cutAt = 60_000;
    expect(mcm!.at - cutAt).toBeGreaterThan(12_000);
    expect(kcm!.at - cutAt).toBeLessThan(25_000);
    expect(ca!.at).toBe(mcm!.at);
    // The scale-down of KCM waits for the end of the others' pods, but for at most three seconds.
    expect(kcm!.at).toBeGreaterThan(mcm!.at);
    expect(kcm!.at).toBeLessThanOrEqual(mcm!.at + 3_000);
    await scenario.clock.advance(3_600_000);
    expect(scenario.world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
    expect(new Set(readyStates(scenario, 'a'))).toEqual(new Set(['True']));
    expect(scenario.changes).toHaveLength(3);
    expect(stateOf(scenario, 'b')).toEqual(allUp);
  });

  it('restores the same counts in the order of levels when the kubelets return', async () => {
    const scenario = create({ shoots: [{ name: 'a', replicas: { 'machine-controller-manager': 3 } }] });
    await reachOutage(scenario);
    const before = scenario.changes.length;
    const { clock, world } = scenario;
    world.shoot('a').restoreKubelets();
    await clock.advance(90_000);
    const restored = scenario.changes.slice(before);
    expect(verdictsOf(scenario).at(-1)).toBe('healthy');
    expect(changeLines(restored)).toEqual(['kcm 0->1', 'mcm 0->3', 'ca 0->1']);
    const [kcm, mcm, ca] = restored;
    // Each waits until the previous one is ready, which takes its pods at least 6.4 s; MCM waits another 30 s.
    expect(mcm!.at - kcm!.at).toBeGreaterThan(36_000);
    expect(ca!.at - mcm!.at).toBeGreaterThan(6_000);
    await clock.advance(600_000);
    expect(scenario.changes).toHaveLength(6);
    expect(world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
  });

  it('costs one write for each Deployment and direction, and no read', async () => {
    const scenario = create();
    await reachOutage(scenario);
    scenario.world.shoot('a').restoreKubelets();
    await scenario.clock.advance(120_000);
    const writes = [...scenario.seedConnection.requests.byKey].filter(([key]) => !/^(?:list|watch) /.test(key));
    expect(writes).toEqual([
      ['get /apis/apps/v1', 3],
      ['patch deployments', 6],
      ['create events', 6],
    ]);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
  });

  it.each(Array.from({ length: 25 }, (_, seed) => seed))('costs no node in any phase: seed %i', async (seed) => {
    const scenario = create({ seed, shoots: [{ name: 'a', nodes: 3 + (seed % 8) }] });
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000 + 997 * seed);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
    world.shoot('a').restoreKubelets();
    await clock.advance(150_000);
    expect(stateOf(scenario, 'a')).toEqual(allUp);
    expect(world.shoot('a').impact()).toEqual({ nodesTurnedUnknown: 0, machinesReplaced: 0 });
  });

  it('that has begun when the prober starts leads to a scale-down too', async () => {
    const scenario = create();
    const { clock, world } = scenario;
    world.shoot('a').cutKubelets();
    await clock.advance(32_000);
    scenario.startProber();
    await clock.advance(8_000);
    expect(changeLines(scenario.changes).slice(0, 2)).toEqual([
      'mcm 1->0 replicas=1 active=',
      'ca 1->0 replicas=1 active=',
    ]);
    await clock.advance(30_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
  });
});
