import { afterEach, expect, it } from 'vitest';
import { createScenario, type Scenario } from './harness.ts';
import { gardenSettings } from './settings.ts';
import { allHeld, allUp, reachOutage, stateOf } from './support.ts';

let scenario: Scenario;
afterEach(() => scenario.stop());

it('takes new settings over without a new start, and goes on with what it remembers of the leases', async () => {
  scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  world.shoot('a').cutKubelets();
  await clock.advance(20_000);
  scenario.reload({ probeIntervalMs: 7_000 });
  // Leases expire 30 s after their last renewal, as if nothing had happened: no first looks, no initial delay.
  await clock.advance(15_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  expect(world.shoot('a').toll().nodesTurnedUnknown).toBe(0);
});

it('restores a resource that the new configuration no longer names', async () => {
  scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock, world } = scenario;
  await reachOutage(scenario);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  const dependentResources = gardenSettings.dependentResources.filter(({ ref }) => ref.name !== 'cluster-autoscaler');
  scenario.reload({ dependentResources });
  await clock.advance(5_000);
  world.shoot('a').restoreKubelets();
  await clock.advance(120_000);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
});

it('does not scale by the old settings any more', async () => {
  scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock, world } = scenario;
  scenario.startProber();
  await clock.advance(60_000);
  scenario.reload({ dependentResources: gardenSettings.dependentResources.slice(0, 1) });
  await clock.advance(5_000);
  world.shoot('a').cutKubelets();
  await clock.advance(60_000);
  expect(scenario.changes.map(({ name }) => name)).toEqual(['kube-controller-manager']);
});
