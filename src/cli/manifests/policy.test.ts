import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { dwd } from '../testing/dwd.ts';
import { celOfSelector } from './policy.ts';

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly policyName?: string;
    readonly failurePolicy?: string;
    readonly validationActions?: readonly string[];
    readonly matchConstraints?: { readonly resourceRules: readonly unknown[] };
    readonly matchConditions?: readonly { readonly expression: string }[];
    readonly validations?: readonly { readonly expression: string; readonly message: string }[];
  };
}

const policies = async (...flags: readonly string[]): Promise<readonly Policy[]> => {
  const { code, stdout, stderr } = await dwd('manifests', '--component=policy', ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Policy);
};

it('binds one policy to the ServiceAccount of the prober and one to that of the weeder', async () => {
  const all = await policies('--namespace=here', '--name-prefix=my-');
  expect(all.map(({ kind, spec }) => [kind, spec.failurePolicy ?? spec.policyName])).toEqual([
    ['ValidatingAdmissionPolicy', 'Fail'],
    ['ValidatingAdmissionPolicyBinding', all[0]?.metadata.name],
    ['ValidatingAdmissionPolicy', 'Fail'],
    ['ValidatingAdmissionPolicyBinding', all[2]?.metadata.name],
  ]);
  const users = all.flatMap(({ spec }) => spec.matchConditions?.map(({ expression }) => expression) ?? []);
  expect(users).toEqual([
    "request.userInfo.username == 'system:serviceaccount:here:my-prober'",
    "request.userInfo.username == 'system:serviceaccount:here:my-weeder'",
  ]);
});

it('restricts the ServiceAccounts of gardenlet if given the prefix of their names', async () => {
  const all = await policies('--profile=gardener-seed', '--name-prefix=dependency-watchdog-');
  expect(all.flatMap(({ spec }) => spec.matchConditions ?? []).map(({ expression }) => expression)).toEqual([
    "request.userInfo.username == 'system:serviceaccount:garden:dependency-watchdog-prober'",
    "request.userInfo.username == 'system:serviceaccount:garden:dependency-watchdog-weeder'",
  ]);
});

it('matches updates of the resources that the prober scales, and deletes of pods by the weeder', async () => {
  const [prober, , weeder] = await policies('--config-file=prober=kinds.yaml');
  const rule = { apiVersions: ['*'], operations: ['UPDATE'] };
  expect(prober?.spec.matchConstraints?.resourceRules).toEqual([
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets'], ...rule },
    { apiGroups: ['druid.gardener.cloud'], resources: ['etcds'], ...rule },
    { apiGroups: [''], resources: ['replicationcontrollers'], ...rule },
  ]);
  expect(weeder?.spec.matchConstraints?.resourceRules).toEqual([
    { apiGroups: [''], apiVersions: ['*'], resources: ['pods'], operations: ['DELETE'] },
  ]);
});

it('lets the weeder delete pods that any of its selectors matches', async () => {
  const [, , weeder] = await policies('--config-file=weeder=weeder.yaml');
  expect(weeder?.spec.validations?.[0]).toEqual({
    expression: "(('role' in variables.labels && variables.labels['role'] in ['apiserver']))",
    message: 'the weeder may delete only pods that a selector of its configuration matches',
    reason: 'Forbidden',
  });
});

it('has an expression for each operator of a selector', () => {
  const terms = [
    { key: 'a', operator: 'In', values: ['1', '2'] },
    { key: 'b', operator: 'NotIn', values: ['1'] },
    { key: 'c/d', operator: 'Exists', values: [] },
    { key: 'e', operator: 'DoesNotExist', values: [] },
  ] as const;
  expect(celOfSelector({ matchLabels: { x: '' }, matchExpressions: terms })).toBe(
    [
      "('x' in variables.labels && variables.labels['x'] in [''])",
      "('a' in variables.labels && variables.labels['a'] in ['1', '2'])",
      "!('b' in variables.labels && variables.labels['b'] in ['1'])",
      "'c/d' in variables.labels",
      "!('e' in variables.labels)",
    ].join(' && '),
  );
});

it('only audits the prober in a seed of Gardener, unless values set other actions or a policy before webhooks', async () => {
  const actions = async (...flags: readonly string[]): Promise<unknown> =>
    (await policies(...flags)).map(({ kind, spec }) => spec.validationActions ?? kind);
  const validating = 'ValidatingAdmissionPolicy';
  expect(await actions()).toEqual([validating, ['Deny'], validating, ['Deny']]);
  expect(await actions('--profile=gardener-seed')).toEqual([validating, ['Audit'], validating, ['Deny']]);
  expect(await actions('--profile=gardener-seed', '--set=policy.proberActions=Deny')).toEqual(await actions());
  const both = await dwd('manifests', '--component=policy', '--set=policy.proberActions=Deny,Warn');
  expect(both.code).toBe(2);
  expect(both.stderr).toContain('but not Deny and Warn');
  const mutating = 'MutatingAdmissionPolicy';
  const before = await actions('--set=policy.beforeWebhooks=true');
  expect(before).toEqual([mutating, `${mutating}Binding`, validating, ['Deny']]);
});
