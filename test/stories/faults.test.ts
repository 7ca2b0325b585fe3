import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../simulator/harness/scenario.ts';
import { allHeld, allUp, editDeployment, reachOutage, stateOf, changeLines } from '../../simulator/harness/support.ts';
import { requestKind } from '../../simulator/network/counting.ts';
import type { RequestFault, FaultRule } from '../../simulator/network/faults.ts';
import { annotated } from '../../simulator/world/steering.ts';
import { createStory } from './support/story.ts';

let scenario: Scenario;
const create = (): Scenario =>
  (scenario = createStory({ shoots: [{ name: 'a', replicas: { 'machine-controller-manager': 3 } }] }));

const held = allHeld.map((line) => (line.startsWith('mcm') ? 'mcm 0 replicas=3 active=' : line));
const up = allUp.map((line) => (line.startsWith('mcm') ? 'mcm 3' : line));

/** Applies `fault` to the first `times` requests with a verb and resource. */
const first = (
  times: number,
  wanted: { readonly verb: string; readonly resource: string },
  fault: RequestFault,
): FaultRule => {
  let left = times;
  return (request) => {
    const { verb, resource } = requestKind(request);
    if (verb !== wanted.verb || resource !== wanted.resource || left === 0) return undefined;
    left -= 1;
    return fault;
  };
};

const patches = { verb: 'patch', resource: 'deployments' };

describe('writes that fail', () => {
  it.each<readonly [string, RequestFault, number]>([
    ['a server error', { status: 500 }, 6],
    ['a conflict', { status: 409 }, 6],
    ['a reset connection', 'reset', 6],
    ['a lost response', { afterWrite: 'reset' }, 6],
    ['a 429 with Retry-After', { status: 429, retryAfter: 1 }, 6],
    ['no response', 'drop', 2],
  ])('(%s) are retried, and each Deployment is scaled down once', async (_, fault, times) => {
    create();
    scenario.seedConnection.setFaults(first(times, patches, fault));
    await reachOutage(scenario);
    expect(stateOf(scenario, 'a')).toEqual(held);
    expect(changeLines(scenario.changes).toSorted()).toEqual([
      'ca 1->0 replicas=1 active=',
      'kcm 1->0 replicas=1 active=',
      'mcm 3->0 replicas=3 active=',
    ]);
    scenario.world.shoot('a').restoreKubelets();
    scenario.seedConnection.setFaults(first(2, patches, fault));
    await scenario.clock.advance(150_000);
    expect(stateOf(scenario, 'a')).toEqual(up);
    expect(scenario.changes).toHaveLength(6);
  });

  it('for lack of a right, or because of a webhook, are tried again every 3 s, and are reported', async () => {
    create();
    const { clock, seedConnection } = scenario;
    seedConnection.setFaults((request) =>
      request.method === 'PATCH' ? { status: 403, message: 'no right to patch' } : undefined,
    );
    await reachOutage(scenario);
    expect(stateOf(scenario, 'a')).toEqual(up);
    const before = seedConnection.requests.total(patches);
    await clock.advance(30_000);
    expect(seedConnection.requests.total(patches) - before).toBe(3 * 10);
    expect(JSON.stringify(scenario.log)).toContain('no right to patch');
    seedConnection.setFaults(() => undefined);
    await clock.advance(3_000);
    expect(stateOf(scenario, 'a')).toEqual(held);
  });

  it('because of a write by another client in between keep the change of that client', async () => {
    create();
    const { clock, world } = scenario;
    let patched = 0;
    // The operator's annotation is written after the watch event on which the prober decides and before the prober's write.
    scenario.seedConnection.setFaults((request) => {
      if (request.method !== 'PATCH' || patched > 0) return undefined;
      patched += 1;
      for (const name of ['kcm', 'mcm', 'ca']) {
        editDeployment(scenario, { shoot: 'a', name }, annotated({ operator: 'was here' }));
      }
      return undefined;
    });
    await reachOutage(scenario);
    expect(stateOf(scenario, 'a')).toEqual(held);
    world.shoot('a').restoreKubelets();
    await clock.advance(120_000);
    expect(stateOf(scenario, 'a')).toEqual(up);
    expect(scenario.changes.at(-1)?.annotations).toEqual({ operator: 'was here' });
  });
});

describe('probes that fail', () => {
  it.each(['nodes', 'machines'])('in the list of %s scale nothing while they last', async (resource) => {
    create();
    const { clock, world } = scenario;
    const line = resource === 'nodes' ? scenario.shootConnection('a') : scenario.seedConnection;
    scenario.startProber();
    await clock.advance(60_000);
    line.setFaults(first(1_000, { verb: 'list', resource }, { status: 503 }));
    world.shoot('a').cutKubelets();
    await clock.advance(120_000);
    expect(scenario.changes).toEqual([]);
    line.setFaults(undefined);
    await clock.advance(15_000);
    expect(stateOf(scenario, 'a')).toEqual(held);
  });
});
