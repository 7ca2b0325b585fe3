import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createScenario } from '../../simulator/harness/harness.ts';
import { electionSettings, leaseNamespace, startReplica } from '../../simulator/harness/replica.ts';
import { gardenSettings } from '../../simulator/harness/settings.ts';
import { createSeededRandom } from '../../simulator/time/random.ts';

it('rule 26: a prober that has lost the lead awaits no write that is under way, and holds nothing when it ends', async () => {
  const scenario = createScenario({ shoots: [{ name: 'a' }] });
  const { clock, world } = scenario;
  world.store.put(simKinds.Namespace, { metadata: { name: leaseNamespace } });
  const replica = startReplica(scenario, {
    settings: gardenSettings,
    leaderElection: electionSettings(true),
    dryRun: false,
    random: createSeededRandom(0),
  });
  await clock.advance(60_000);
  // No renewal is answered from here on, nor the first patch, which leaves before the lead is lost and would be awaited for longer.
  let patchedAt = Number.NEGATIVE_INFINITY;
  world.shoot('a').cutKubelets();
  await clock.advance(20_000);
  replica.seedLine.setFaults(({ method }) => {
    if (method === 'PATCH') patchedAt = Math.max(patchedAt, clock.monotonic());
    return method === 'GET' ? undefined : 'drop';
  });
  expect(await clock.run(replica.ended)).toBe(1);
  expect(clock.monotonic() - patchedAt).toBeLessThan(10_000);
  expect(replica.process.holds()).toEqual({ timers: 0, requests: 0 });
  await scenario.stop();
});
