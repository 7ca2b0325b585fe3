import { expect, it } from 'vitest';
import type { KubeObject } from './object.ts';
import { isNarrowed, widened } from './roles.ts';

const role = (rules: readonly object[], kind = 'Role'): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name: 'a' },
  rules,
});
const planned = (object: KubeObject, live?: KubeObject) => ({
  ...{ object, at: { resource: '', namespaced: true, apiVersion: '', kind: '' } },
  ...(live === undefined ? {} : { live }),
  ...{ change: 'update' as const, differences: [], conflicts: [], force: false },
});
const [pods, secrets] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
];

it('adds the rules that only the live role has, regardless of the order of fields', () => {
  const live = role([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, secrets]);
  expect(widened(planned(role([pods]), live)).object.rules).toEqual([pods, secrets]);
  expect(isNarrowed(planned(role([pods, secrets]), live))).toBe(false);
});

it('leaves new roles and other kinds as they are', () => {
  expect(isNarrowed(planned(role([pods])))).toBe(false);
  expect(isNarrowed(planned(role([], 'ConfigMap'), role([pods], 'ConfigMap')))).toBe(false);
});
