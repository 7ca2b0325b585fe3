import { expect, it } from 'vitest';
import { formatRight } from '../../kubernetes/api/access.ts';
import { eventGrant, leaseGrants, rightsOf } from './grants.ts';

const words = (...given: Parameters<typeof rightsOf>): readonly string[] =>
  rightsOf(...given).map(({ right }) => formatRight(right));

it('needs each verb on each name', () => {
  const grant = { group: 'apps', resource: 'deployments', names: ['a', 'b'], verbs: ['get', 'patch'], purpose: 'to' };
  expect(words([grant])).toEqual(
    ['a', 'b'].flatMap((name) =>
      ['get', 'patch'].map(
        (verb) => `${verb} resource "deployments" "${name}" in API group "apps" at the cluster scope`,
      ),
    ),
  );
});

it('needs a right in the namespace of a control plane only with `byNamespace`, and the rights on the Lease in its namespace', () => {
  const machines = { group: '', resource: 'machines', verbs: ['list'], purpose: 'to' };
  const one = { ...machines, byNamespace: true } as const;
  expect(
    words([machines, one, ...leaseGrants('lead', 'garden')], 'shoot--a').map((text) => text.split('""')[1]),
  ).toEqual([' at the cluster scope', ' in the namespace "shoot--a"', undefined, undefined, undefined]);
  expect(words([one])).toEqual(['list resource "machines" in API group "" at the cluster scope']);
  expect(words(leaseGrants('lead', 'garden'), 'shoot--a')).toEqual([
    'create resource "leases" in API group "coordination.k8s.io" in the namespace "garden"',
    'get resource "leases" "lead" in API group "coordination.k8s.io" in the namespace "garden"',
    'update resource "leases" "lead" in API group "coordination.k8s.io" in the namespace "garden"',
  ]);
});

it('does not need the rights of an optional grant', () => {
  expect(words([eventGrant], 'shoot--a')).toEqual([]);
});
