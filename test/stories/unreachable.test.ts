import { afterEach, describe, expect, it } from 'vitest';
import { type Scenario, type ScenarioOptions, createScenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, reachOutage, stateOf } from '../../simulator/harness/support.ts';

let scenario: Scenario;
const create = (options: Partial<ScenarioOptions> = {}): Scenario => {
  scenario = createScenario({ shoots: [{ name: 'a' }], ...options });
  return scenario;
};
afterEach(() => scenario.stop());

const spells = [
  ['refused', 5_000],
  ['refused', 20_000],
  ['silent', 20_000],
  ['refused', 60_000],
  ['silent', 60_000],
  ['refused', 1_800_000],
] as const;

describe("a shoot's API server that becomes unreachable and returns", () => {
  it.each(spells)('(%s for %i ms) is no outage', async (reachability, ms) => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').api.setReachability(reachability);
    await clock.advance(ms);
    world.shoot('a').api.setReachability('open');
    await clock.advance(120_000);
    expect(scenario.changes).toEqual([]);
    expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('for 20 s is no outage in any phase: seed %i', async (seed) => {
    create({ seed, shoots: [{ name: 'a', nodes: 12 }] });
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000 + 1_300 * seed);
    world.shoot('a').api.setReachability(seed % 2 === 0 ? 'refused' : 'silent');
    await clock.advance(20_000);
    world.shoot('a').api.setReachability('open');
    await clock.advance(120_000);
    expect(scenario.changes).toEqual([]);
  });

  it('in the middle of a restoration delays a resource that was waiting for its initial delay', async () => {
    create();
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

  it('with kubelets that do not return is an outage, confirmed 7.5 s after its return', async () => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').api.setReachability('refused');
    world.shoot('a').cutKubelets();
    await clock.advance(120_000);
    world.shoot('a').api.setReachability('open');
    await clock.advance(7_500);
    expect(scenario.changes).toEqual([]);
    await clock.advance(15_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
  });

  it('does not change held resources', async () => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    world.shoot('a').api.setReachability('silent');
    world.shoot('a').restoreKubelets();
    await clock.advance(300_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(scenario.changes).toHaveLength(3);
  });
});

describe('an unreachable API server of the seed', () => {
  it('is awaited at the start', async () => {
    create();
    const { clock, world } = scenario;
    world.api.setReachability('refused');
    scenario.startProber();
    await clock.advance(120_000);
    world.api.setReachability('open');
    world.shoot('a').cutKubelets();
    await clock.advance(90_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
  });

  it.each(['refused', 'silent'] as const)('(%s) for a while loses no state', async (reachability) => {
    create();
    const { clock, world } = scenario;
    scenario.startProber();
    await clock.advance(60_000);
    world.api.setReachability(reachability);
    await clock.advance(120_000);
    expect(scenario.shootConnection('a').requests.total()).toBeGreaterThan(28);
    world.api.setReachability('open');
    await clock.advance(60_000);
    world.shoot('a').cutKubelets();
    await clock.advance(60_000);
    expect(stateOf(scenario, 'a')).toEqual(allHeld);
    expect(world.shoot('a').impact().nodesTurnedUnknown).toBe(0);
  });
});
