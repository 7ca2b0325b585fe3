import { expect, it } from 'vitest';
import { formatRight } from '../../kubernetes/api/access.ts';
import { eventGrant, leaseGrants, rightsOf } from './grants.ts';

const words = (...given: Parameters<typeof rightsOf>): readonly string[] =>
  rightsOf(...given).map(({ right }) => formatRight(right));

it('asks for each verb on each name', () => {
  const grant = { group: 'apps', resource: 'deployments', names: ['a', 'b'], verbs: ['get', 'patch'], purpose: 'to' };
  expect(words([grant])).toEqual(
    ['a', 'b'].flatMap((name) =>
      ['get', 'patch'].map(
        (verb) => `${verb} resource "deployments" "${name}" in API group "apps" at the cluster scope`,
      ),
    ),
  );
});

it('asks in the namespace of a control plane only for what is used there one by one, and in a namespace of its own for the Lease', () => {
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

it('does not ask for what may be missing', () => {
  expect(words([eventGrant], 'shoot--a')).toEqual([]);
});
