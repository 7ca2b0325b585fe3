import { describe, expect, it } from 'vitest';
import { buildCluster, buildShoot } from '../../test/doubles/builders.ts';
import { DecodeError } from '../kubernetes/api/decode.ts';
import { type ShootView, decodeCluster } from './cluster.ts';

const view = (shoot: unknown): ShootView => {
  const { shoot: decoded } = decodeCluster(buildCluster({ shoot }), 'cluster');
  if (!decoded.ok) throw decoded.error;
  return decoded.value;
};

const problemOf = (shoot: unknown): string => {
  const { name, shoot: decoded } = decodeCluster(buildCluster({ name: 'shoot--dev--bad', shoot }), 'cluster');
  expect(name).toBe('shoot--dev--bad');
  if (decoded.ok) throw new Error('decoded');
  expect(decoded.error).toBeInstanceOf(DecodeError);
  return decoded.error.message;
};

describe('a Cluster', () => {
  it('is decoded with every field that the prober needs', () => {
    const shoot = buildShoot({
      deletionTimestamp: '2026-11-21T06:00:00Z',
      workers: ['a', { name: 'b', nodeConditions: ['Rusty', 'Dusty'] }, { name: 'c', nodeConditions: [] }],
      nodeMonitorGracePeriod: '1m20s',
    });
    expect(view(shoot)).toMatchObject({
      deleting: true,
      hasWorkers: true,
      poolConditions: new Map([['b', ['Rusty', 'Dusty']]]),
      nodeMonitorGraceMs: 80_000,
    });
  });

  it('reads null as absent, like Go', () => {
    const bare = {
      metadata: { deletionTimestamp: null },
      spec: { hibernation: null, provider: { workers: null }, kubernetes: { kubeControllerManager: null } },
      status: { hibernated: null, lastOperation: null },
    };
    const nothing = {
      deleting: false,
      hibernationEnabled: false,
      hibernated: false,
      hasWorkers: false,
      poolConditions: new Map(),
    };
    expect(view(bare)).toEqual(nothing);
    expect(view({ metadata: null, spec: null, status: null })).toEqual(nothing);
  });

  it('needs no names of worker pools without conditions of their own', () => {
    expect(view({ spec: { provider: { workers: [{}] } } }).hasWorkers).toBe(true);
  });
});

describe('an undecodable shoot', () => {
  it.each([
    [[], 'spec.shoot: expected an object, found a list'],
    [{ spec: { provider: { workers: ['a'] } } }, 'spec.shoot.spec.provider.workers[0]: expected an object'],
    [{ status: { lastOperation: { state: [] } } }, 'spec.shoot.status.lastOperation.state: expected a string'],
    ...['40', '0s', '-40s'].map((nodeMonitorGracePeriod): [object, string] => [
      buildShoot({ nodeMonitorGracePeriod }),
      'spec.shoot.spec.kubernetes.kubeControllerManager.nodeMonitorGracePeriod: expected a duration greater than 0',
    ]),
  ])('%j is an error in the result, with the path of the wrong field', (shoot, problem) => {
    expect(problemOf(shoot)).toContain(problem);
  });

  it('is the result for a Cluster without a spec, too', () => {
    const { shoot } = decodeCluster({ metadata: { name: 'a' } }, 'cluster');
    expect(shoot.ok || shoot.error.message).toContain('spec: expected an object');
  });
});
