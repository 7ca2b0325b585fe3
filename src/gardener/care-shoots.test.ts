import { describe, expect, it } from 'vitest';
import { buildCluster } from '../../test/doubles/builders.ts';
import { type CareShoot, decodeCareCluster, decodeGardenShoot } from './care-shoots.ts';

const metadata = { name: 'one', namespace: 'garden-dev' };

const shootOf = (shoot: object): CareShoot => {
  const { shoot: decoded } = decodeCareCluster(buildCluster({ shoot: { metadata, ...shoot } }), 'cluster');
  if (!decoded.ok) throw decoded.error;
  return decoded.value;
};

const bare: CareShoot = {
  namespace: 'garden-dev',
  name: 'one',
  uid: '',
  seedName: '',
  labels: {},
  hibernated: false,
  purpose: '',
  pools: [],
  vpaEnabled: false,
  hasLastErrors: false,
  conditions: [],
};
const condition = { type: 'EveryNodeReady', status: 'True', reason: 'R', message: 'M', lastUpdateTime: 'x' };

describe('a Shoot', () => {
  it('is read with defaults for absent fields', () => {
    expect(shootOf({})).toEqual(bare);
    expect(shootOf({ spec: null, status: null })).toEqual(bare);
    expect(
      shootOf({
        spec: { hibernation: null, kubernetes: { verticalPodAutoscaler: null }, provider: { workers: null } },
        status: { lastErrors: null, conditions: null, lastOperation: null },
      }),
    ).toEqual(bare);
  });

  it('is read with every field that care needs', () => {
    const lastOperation = { type: 'Reconcile', state: 'Error', lastUpdateTime: '2026-01-01T00:00:00Z' };
    const shoot = {
      metadata: { ...metadata, labels: { a: 'b' } },
      spec: {
        seedName: 'old',
        purpose: 'testing',
        kubernetes: { version: '1.33.2', verticalPodAutoscaler: { enabled: true } },
        provider: {
          workers: [
            { name: 'x', minimum: 1, maximum: 3 },
            { name: 'y', minimum: 0, maximum: 0, kubernetes: { version: '1.32.1' } },
          ],
        },
      },
      status: {
        uid: '1234',
        seedName: 'seed',
        lastOperation: { ...lastOperation, progress: 3 },
        lastErrors: [{ description: 'x' }],
        conditions: [{ ...condition, extra: 1 }],
      },
    };
    expect(shootOf(shoot)).toEqual({
      ...bare,
      uid: '1234',
      seedName: 'seed',
      labels: { a: 'b' },
      purpose: 'testing',
      pools: [
        { name: 'x', minimum: 1, maximum: 3, kubernetesVersion: '1.33.2' },
        { name: 'y', minimum: 0, maximum: 0, kubernetesVersion: '1.32.1' },
      ],
      vpaEnabled: true,
      lastOperation,
      hasLastErrors: true,
      conditions: [{ ...condition, lastTransitionTime: '' }],
    });
  });

  it.each([
    [{ spec: { hibernation: { enabled: true } } }, true],
    [{ spec: { hibernation: { enabled: false } }, status: { hibernated: true } }, true],
    [{ spec: { hibernation: { enabled: false } }, status: { hibernated: false } }, false],
    [{ spec: { hibernation: { schedules: [] } } }, false],
  ])('with %j is hibernated: %j', (shoot, hibernated) => {
    expect(shootOf(shoot).hibernated).toBe(hibernated);
  });

  it('that cannot be read is an error in the result, not an exception', () => {
    const spec = { provider: { workers: [{ name: 'a', minimum: '1' }] } };
    const { name, shoot } = decodeCareCluster(buildCluster({ shoot: { metadata, spec } }), 'cluster');
    expect({ name, shoot }).toMatchObject({ name: 'shoot--dev--one', shoot: { ok: false } });
    if (!shoot.ok) expect(shoot.error.message).toContain('workers[0].minimum: expected a whole number, found a string');
  });

  it('is decoded with the seed that its Cluster names', () => {
    const shoot = { metadata };
    const onSeed = (seed: unknown) =>
      decodeCareCluster({ metadata: { name: 'shoot--dev--one' }, spec: { seed, shoot } }, 'cluster').seedName;
    expect([onSeed({ metadata: { name: 'aws-eu1' } }), onSeed({}), onSeed(null)]).toEqual([
      'aws-eu1',
      undefined,
      undefined,
    ]);
  });

  it('of the garden keeps the fields that a write needs', () => {
    const stored = { type: 'Theirs', extra: { deep: [1] } };
    const shoot = { metadata: { ...metadata, resourceVersion: '7', uid: 'u' }, status: { conditions: [stored] } };
    expect(decodeGardenShoot(shoot)).toMatchObject({
      resourceVersion: '7',
      metadata: { uid: 'u' },
      storedConditions: [stored],
      shoot: { name: 'one', conditions: [{ type: 'Theirs', status: '' }] },
    });
  });
});
