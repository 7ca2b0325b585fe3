import { describe, expect, it } from 'vitest';
import { DecodeError } from '../kubernetes/api/decode.ts';
import { decodeClusterState } from './cluster-watch.ts';

const cluster = (shoot: unknown) => ({ metadata: { name: 'shoot--dev--one' }, spec: { shoot } });

describe('a Cluster', () => {
  it.each([
    [cluster({ spec: { hibernation: { enabled: true } } }), true],
    [cluster({ spec: { hibernation: { enabled: false } } }), false],
    [cluster({ spec: {}, status: { hibernated: true } }), false],
    [{}, false],
  ])('%j is hibernated: %s', (json, hibernated) => {
    expect(decodeClusterState(json, 'cluster')).toEqual({ hibernated, migrating: false });
  });

  it.each([
    ['Migrate', true],
    ['Restore', false],
  ])('whose last operation is %s is migrating: %s', (type, migrating) => {
    const json = cluster({ status: { lastOperation: { type } } });
    expect(decodeClusterState(json, 'cluster')).toEqual({ hibernated: false, migrating });
  });

  it('that cannot be read throws a DecodeError', () => {
    expect(() => decodeClusterState(cluster({ spec: { hibernation: { enabled: 'yes' } } }), 'cluster')).toThrow(
      new DecodeError('cluster.spec.shoot.spec.hibernation.enabled', 'a boolean', 'yes'),
    );
  });
});
