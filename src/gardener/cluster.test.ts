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
  it('is decoded with its Shoot', () => {
    expect(view(buildShoot())).toEqual({
      deleting: false,
      hibernationEnabled: false,
      hibernated: false,
      lastOperation: { type: 'Reconcile', state: 'Succeeded', lastUpdateTime: '' },
      hasWorkers: true,
      poolConditions: new Map(),
    });
  });

  it('is decoded with every field that the prober needs', () => {
    const shoot = buildShoot({
      deletionTimestamp: '2026-11-21T06:00:00Z',
      hibernationEnabled: true,
      hibernated: true,
      lastOperation: { type: 'Migrate', state: 'Processing' },
      workers: ['a', { name: 'b', nodeConditions: ['Rusty', 'Dusty'] }, { name: 'c', nodeConditions: [] }],
      nodeMonitorGracePeriod: '1m20s',
    });
    expect(view(shoot)).toEqual({
      deleting: true,
      hibernationEnabled: true,
      hibernated: true,
      lastOperation: { type: 'Migrate', state: 'Processing', lastUpdateTime: '' },
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
    expect(view({})).toEqual(nothing);
    expect(view({ spec: { hibernation: { enabled: null }, provider: null, kubernetes: null } })).toEqual(nothing);
  });

  it('is decoded with a last operation that has neither type nor state yet', () => {
    expect(view({ status: { lastOperation: {} } }).lastOperation).toMatchObject({ type: '', state: '' });
  });

  it('needs no names of worker pools without conditions of their own', () => {
    expect(view({ spec: { provider: { workers: [{}] } } }).hasWorkers).toBe(true);
  });
});

describe('nodeMonitorGracePeriod', () => {
  it.each([
    ['40s', 40_000],
    ['2m0s', 120_000],
    ['1.5m', 90_000],
    ['500ms', 500],
    ['1h', 3_600_000],
  ])('%s is %d ms', (nodeMonitorGracePeriod, expected) => {
    expect(view(buildShoot({ nodeMonitorGracePeriod })).nodeMonitorGraceMs).toBe(expected);
  });

  it.each(['', '40', '0s', '0', '-40s', '40 s', 'forty', '40S'])('%j makes the shoot undecodable', (text) => {
    expect(problemOf(buildShoot({ nodeMonitorGracePeriod: text }))).toContain(
      'spec.shoot.spec.kubernetes.kubeControllerManager.nodeMonitorGracePeriod: expected a duration greater than 0',
    );
  });
});

describe('an undecodable shoot', () => {
  const worker = (extra: object) => ({ spec: { provider: { workers: [extra] } } });

  it.each([
    [undefined, 'spec.shoot: expected an object, found nothing'],
    [null, 'spec.shoot: expected an object, found null'],
    ['{}', 'spec.shoot: expected an object, found a string'],
    [[], 'spec.shoot: expected an object, found a list'],
    [{ metadata: 'x' }, 'spec.shoot.metadata: expected an object'],
    [{ metadata: { deletionTimestamp: 7 } }, 'spec.shoot.metadata.deletionTimestamp: expected a string'],
    [{ spec: [] }, 'spec.shoot.spec: expected an object'],
    [{ spec: { hibernation: true } }, 'spec.shoot.spec.hibernation: expected an object'],
    [{ spec: { hibernation: { enabled: 'true' } } }, 'spec.shoot.spec.hibernation.enabled: expected a boolean'],
    [{ spec: { provider: 'local' } }, 'spec.shoot.spec.provider: expected an object'],
    [{ spec: { provider: { workers: {} } } }, 'spec.shoot.spec.provider.workers: expected a list'],
    [{ spec: { provider: { workers: ['a'] } } }, 'spec.shoot.spec.provider.workers[0]: expected an object'],
    [worker({ name: 'a', machineControllerManager: 1 }), 'workers[0].machineControllerManager: expected an object'],
    [worker({ name: 'a', machineControllerManager: { nodeConditions: 'x' } }), 'nodeConditions: expected a list'],
    [worker({ name: 'a', machineControllerManager: { nodeConditions: [1] } }), 'nodeConditions[0]: expected a string'],
    [worker({ machineControllerManager: { nodeConditions: ['X'] } }), 'workers[0].name: expected a string'],
    [worker({ name: 1, machineControllerManager: { nodeConditions: ['X'] } }), 'workers[0].name: expected a string'],
    [{ spec: { kubernetes: '1.33' } }, 'spec.shoot.spec.kubernetes: expected an object'],
    [{ spec: { kubernetes: { kubeControllerManager: [] } } }, 'kubeControllerManager: expected an object'],
    [
      { spec: { kubernetes: { kubeControllerManager: { nodeMonitorGracePeriod: 40 } } } },
      'nodeMonitorGracePeriod: expected a string, found a number',
    ],
    [{ status: 'ok' }, 'spec.shoot.status: expected an object'],
    [{ status: { hibernated: 'no' } }, 'spec.shoot.status.hibernated: expected a boolean'],
    [{ status: { lastOperation: 'Create' } }, 'spec.shoot.status.lastOperation: expected an object'],
    [{ status: { lastOperation: { type: 1 } } }, 'spec.shoot.status.lastOperation.type: expected a string'],
    [{ status: { lastOperation: { state: [] } } }, 'spec.shoot.status.lastOperation.state: expected a string'],
  ])('%j is an error in the result, with the path of the wrong field', (shoot, problem) => {
    // buildCluster replaces an undefined shoot by a default.
    const text = shoot === undefined ? problemWithout('shoot') : problemOf(shoot);
    expect(text).toContain(problem);
  });

  const problemWithout = (field: 'shoot' | 'spec'): string => {
    const cluster = { metadata: { name: 'a' }, ...(field === 'shoot' ? { spec: {} } : {}) };
    const { shoot } = decodeCluster(cluster, 'cluster');
    return shoot.ok ? 'decoded' : shoot.error.message;
  };

  it('is the result for a Cluster without a spec, too', () => {
    expect(problemWithout('spec')).toContain('spec: expected an object');
  });

  it('belongs to a Cluster with a name: without one, decoding throws', () => {
    expect(() => decodeCluster({ metadata: {}, spec: {} }, 'cluster')).toThrow('cluster.metadata.name');
    expect(() => decodeCluster('x', 'cluster')).toThrow(DecodeError);
  });
});
