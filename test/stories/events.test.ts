import { expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, reachOutage, stateOf } from '../../simulator/harness/support.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;

const events = () => scenario.world.store.list(simKinds.Event, scenario.world.shoot('a').namespace);

it('records an Event for each scaled resource, with the reason and the counts', async () => {
  scenario = createStory({ shoots: [{ name: 'a', replicas: { 'machine-controller-manager': 3 } }] });
  await reachOutage(scenario);
  const found = events().map(({ involvedObject, type, reason, message }) => ({
    name: (involvedObject as { name: string }).name,
    type,
    reason,
    message,
  }));
  expect(found).toHaveLength(3);
  // kubectl describe finds an Event by this.
  const deployments = scenario.world.store.list(simKinds.Deployment, scenario.world.shoot('a').namespace);
  const uids = new Set(deployments.map(({ metadata }) => metadata.uid));
  for (const { involvedObject } of events()) expect(uids).toContain((involvedObject as { uid: string }).uid);
  expect(found).toContainEqual({
    name: 'machine-controller-manager',
    type: 'Warning',
    reason: 'MeltdownProtectionScaledDown',
    message: expect.stringMatching(
      /^Seed simulated: Scaled down from 3 to 0 replicas: none of 5 candidates has renewed for 2\d\.\d s$/,
    ) as string,
  });
});

it('logs a missing right once and continues without Events', async () => {
  scenario = createStory();
  const message = 'events is forbidden';
  scenario.seedConnection.setFaults(({ method, path }) =>
    method === 'POST' && path.endsWith('/events')
      ? {
          status: 403,
          body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', message, code: 403 },
        }
      : undefined,
  );
  await reachOutage(scenario);
  expect(stateOf(scenario, 'a')).toEqual(allHeld);
  expect(events()).toEqual([]);
  expect(scenario.log.filter(({ msg }) => msg.includes('the namespace refuses Events'))).toHaveLength(1);
  expect(scenario.seedConnection.requests.byKey.get('create events')).toBe(1);
});
