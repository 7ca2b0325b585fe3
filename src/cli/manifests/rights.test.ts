import { expect, it } from 'vitest';
import fc from 'fast-check';
import type { Grant } from '../../process/rights/grants.ts';
import { type PolicyRule, policyRules } from './rights.ts';

const grant = fc.record(
  {
    group: fc.constantFrom('', 'apps'),
    resource: fc.constantFrom('pods', 'deployments', 'deployments/scale'),
    names: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
    verbs: fc.uniqueArray(fc.constantFrom('get', 'list', 'patch'), { minLength: 1 }),
    purpose: fc.constant('to test'),
  },
  { requiredKeys: ['group', 'resource', 'verbs', 'purpose'] },
);

/** Returns the effective rights: a right to all names covers rights to single names. */
const effective = (lines: readonly (readonly [string, string])[]): readonly string[] => {
  const forAll = new Set(lines.flatMap(([right, name]) => (name === '*' ? [right] : [])));
  const left = lines.filter(([right, name]) => name === '*' || !forAll.has(right));
  return [...new Set(left.map((line) => line.join(' ')))].toSorted();
};

const granted = (grants: readonly Grant[]): readonly string[] =>
  effective(
    grants.flatMap(({ group, resource, names = ['*'], verbs }) =>
      names.flatMap((name) => verbs.map((verb) => [`${verb} ${group}/${resource}`, name] as const)),
    ),
  );

const ruled = (rules: readonly PolicyRule[]): readonly string[] =>
  effective(
    rules.flatMap(({ apiGroups, resources, resourceNames = ['*'], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) => verbs.map((verb) => [`${verb} ${group}/${resource}`, name] as const)),
        ),
      ),
    ),
  );

it('grants all that is needed, and nothing else', () => {
  fc.assert(
    fc.property(fc.array(grant), (grants) => {
      expect(ruled(policyRules(grants as readonly Grant[]))).toEqual(granted(grants as readonly Grant[]));
    }),
  );
});

it('merges grants that differ only in verbs, in names, or in resources', () => {
  const deployments = { group: 'apps', resource: 'deployments', purpose: 'to test' };
  const rules = policyRules([
    { ...deployments, names: ['b'], verbs: ['patch'] },
    { ...deployments, names: ['a'], verbs: ['get', 'patch'] },
    { ...deployments, names: ['b'], verbs: ['get'] },
    { ...deployments, resource: 'replicasets', names: ['b', 'a'], verbs: ['patch', 'get'] },
    { ...deployments, names: ['c'], verbs: ['list'] },
  ]);
  expect(rules).toEqual([
    {
      apiGroups: ['apps'],
      resources: ['deployments', 'replicasets'],
      resourceNames: ['a', 'b'],
      verbs: ['get', 'patch'],
    },
    { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['c'], verbs: ['list'] },
  ]);
});
