import { expect, it } from 'vitest';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, editShoot, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;

const logged = () => scenario.log.map(({ msg }) => msg).filter((msg) => msg.startsWith('would have'));

it('writes nothing, and logs once what it would have done, in both directions', async () => {
  scenario = createStory();
  const { clock, world } = scenario;
  scenario.startProber({}, { dryRun: true });
  await clock.advance(60_000);
  world.shoot('a').cutKubelets();
  // A dry run does not scale KCM down, so the nodes turn Unknown.
  await clock.advance(120_000);
  expect(logged()).toEqual(['would have scaled down', 'would have scaled down', 'would have scaled down']);
  world.shoot('a').restoreKubelets();
  await clock.advance(180_000);
  expect(logged().slice(3)).toEqual(['would have scaled up', 'would have scaled up', 'would have scaled up']);
  expect(scenario.changes).toEqual([]);
  expect(stateOf(scenario, 'a')).toEqual(allUp);
  const writes = [...scenario.seedConnection.requests.byKey.keys()].filter((key) => !/^(?:list|watch|get) /.test(key));
  expect(writes).toEqual([]);
});

it('logs once what it would release, and leaves the mark to the program that protects the shoot', async () => {
  scenario = createStory();
  const { clock } = scenario;
  await reachOutage(scenario);
  await scenario.stopProber();
  editShoot(scenario, 'a', (shoot) => ({ ...shoot, spec: { ...shoot.spec, hibernation: { enabled: true } } }));
  scenario.startProber({}, { dryRun: true });
  await clock.advance(600_000);
  expect(logged()).toEqual(['would have annotated', 'would have annotated', 'would have annotated']);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
});
