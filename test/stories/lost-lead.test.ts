import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { electionSettings, leaseNamespace, prober, startReplica } from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
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
