import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { electionSettings, leaseNamespace, prober, startReplica } from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { allHeld, stateOf } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

it('rule 26: a prober that has lost leadership awaits no pending write, and leaves no timer and no request when it ends', async () => {
  const scenario = createStory();
  const { clock, world } = scenario;
  world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
  const replica = startReplica(prober(), scenario, {
    settings: gardenSettings,
    leaderElection: electionSettings(true),
  });
  await clock.advance(60_000);
  // From here on, no renewal and no patch gets a response. The first patch is sent before leadership is lost, and would be awaited for longer.
  let patchedAt = Number.NEGATIVE_INFINITY;
  world.shoot('a').cutKubelets();
  await clock.advance(20_000);
  replica.seedConnection.setFaults(({ method }) => {
    if (method === 'PATCH') patchedAt = Math.max(patchedAt, clock.monotonic());
    return method === 'GET' ? undefined : 'drop';
  });
  expect(await clock.run(replica.ended)).toBe(1);
  expect(clock.monotonic() - patchedAt).toBeLessThan(10_000);
  expect(replica.process.holds()).toEqual({ timers: 0, requests: 0 });
});

it('a prober that was held up past its deadline in mid-scale-down goes on once it has renewed the Lease', async () => {
  const scenario = createStory();
  const { clock, world, changes } = scenario;
  world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
  const settings = { ...gardenSettings, probeIntervalMs: 30_000 };
  const { process } = startReplica(prober(), scenario, { settings, leaderElection: electionSettings(true) });
  await clock.advance(60_000);
  world.shoot('a').cutKubelets();
  await clock.runUntil(() => changes.length > 0);
  process.suspend();
  await clock.advance(9_900);
  await process.resume();
  await clock.advance(2_000);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  process.kill();
});
