import { describe, expect, it } from 'vitest';
import { buildCluster } from '../../test/doubles/builders.ts';
import { type CareShoot, bareShoot, decodeCareCluster } from './care-shoots.ts';

const metadata = { name: 'one', namespace: 'garden-dev' };

const shootOf = (shoot: object): CareShoot => {
  const { shoot: decoded } = decodeCareCluster(buildCluster({ shoot: { metadata, ...shoot } }), 'cluster');
  if (!decoded.ok) throw decoded.error;
  return decoded.value;
};

describe('a Shoot', () => {
  it('is read with defaults for absent fields', () => {
    expect(shootOf({ spec: null, status: null })).toEqual(bareShoot(metadata));
    expect(
      shootOf({
        spec: { hibernation: null, kubernetes: { verticalPodAutoscaler: null }, provider: { workers: null } },
        status: { lastErrors: null, conditions: null, lastOperation: null },
      }),
    ).toEqual(bareShoot(metadata));
  });

  it('is on the seed of its status, and its pools have the version of the Shoot, or their own', () => {
    const workers = [
      { name: 'x', minimum: 1, maximum: 3 },
      { name: 'y', kubernetes: { version: '1.32.1' } },
    ];
    const spec = { seedName: 'old', kubernetes: { version: '1.33.2' }, provider: { workers } };
    expect(shootOf({ spec, status: { seedName: 'seed' } })).toMatchObject({
      seedName: 'seed',
      pools: [
        { name: 'x', minimum: 1, maximum: 3, kubernetesVersion: '1.33.2' },
        { name: 'y', minimum: 0, maximum: 0, kubernetesVersion: '1.32.1' },
      ],
    });
  });

  it.each([
    [{ spec: { hibernation: { enabled: true } } }, true],
    [{ spec: { hibernation: { enabled: false } }, status: { hibernated: true } }, true],
    [{ spec: { hibernation: { enabled: false } }, status: { hibernated: false } }, false],
  ])('with %j is hibernated: %j', (shoot, hibernated) => {
    expect(shootOf(shoot).hibernated).toBe(hibernated);
  });

  it('that cannot be read is an error in the result, not an exception', () => {
    const spec = { provider: { workers: [{ name: 'a', minimum: '1' }] } };
    const { name, shoot } = decodeCareCluster(buildCluster({ shoot: { metadata, spec } }), 'cluster');
    expect({ name, shoot }).toMatchObject({ name: 'shoot--dev--one', shoot: { ok: false } });
    if (!shoot.ok) expect(shoot.error.message).toContain('workers[0].minimum: expected a whole number, found a string');
  });

  it.each([
    [{ metadata: { name: 'aws-eu1' } }, 'aws-eu1'],
    [{}, undefined],
    [null, undefined],
  ])('is decoded with the seed that its Cluster names: %j', (seed, name) => {
    const cluster = { metadata: { name: 'shoot--dev--one' }, spec: { seed, shoot: { metadata } } };
    expect(decodeCareCluster(cluster, 'cluster').seedName).toBe(name);
  });
});
