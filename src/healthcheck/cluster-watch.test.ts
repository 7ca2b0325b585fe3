import { expect, it } from 'vitest';
import { DecodeError } from '../kubernetes/api/decode.ts';
import { decodeHibernation } from './cluster-watch.ts';

const cluster = (shoot: unknown) => ({ metadata: { name: 'shoot--dev--one' }, spec: { shoot } });

it.each([
  [cluster({ spec: { hibernation: { enabled: true } } }), true],
  [cluster({ spec: { hibernation: { enabled: false } } }), false],
  [cluster({ spec: {}, status: { hibernated: true } }), false],
  [{}, false],
])('a Cluster %j is hibernated: %s', (json, hibernated) => {
  expect(decodeHibernation(json, 'cluster')).toBe(hibernated);
});

it('a Cluster that cannot be read throws a DecodeError', () => {
  expect(() => decodeHibernation(cluster({ spec: { hibernation: { enabled: 'yes' } } }), 'cluster')).toThrow(
    new DecodeError('cluster.spec.shoot.spec.hibernation.enabled', 'a boolean', 'yes'),
  );
});
