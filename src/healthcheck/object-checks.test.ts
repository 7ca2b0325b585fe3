import { expect, it } from 'vitest';
import { ApiError } from '../kubernetes/api/errors.ts';
import type { Check } from './check.ts';
import { daemonSetCheck, deploymentCheck, managedResourceCheck, statefulSetCheck } from './object-checks.ts';
import { type StubAnswers, contextOf } from './testing/stub-client.ts';

const namespace = 'shoot--dev--one';
const object = (status: object) => ({
  metadata: { name: 'x', namespace, generation: 1 },
  spec: {},
  status: { observedGeneration: 1, ...status },
});
const condition = (type: string, status: string, message = 'm') => ({ type, status, reason: 'R', message });

const where = '"csi" in namespace "shoot--dev--one"';
const managedResources = `/apis/resources.gardener.cloud/v1alpha1/namespaces/${namespace}/managedresources/csi`;
const applied = condition('ResourcesApplied', 'True');
const inSeed = (check: Check, seed: StubAnswers) => check(contextOf({ seed }));
const csi = { cluster: 'seed', name: 'csi' } as const;

it.each([
  {
    nouns: ['deployment', 'deployment', 'failed to retrieve deployment'],
    path: `/apis/apps/v1/namespaces/${namespace}/deployments/csi`,
    check: deploymentCheck(csi),
    healthy: { conditions: [condition('Available', 'True')] },
    unhealthy: { conditions: [condition('Available', 'False')] },
    problem: 'condition "Available" has invalid status False (expected True) due to R: m',
  },
  {
    nouns: ['statefulSet', 'StatefulSet', 'failed to retrieve StatefulSet'],
    path: `/apis/apps/v1/namespaces/${namespace}/statefulsets/csi`,
    check: statefulSetCheck(csi),
    healthy: { readyReplicas: 1 },
    unhealthy: {},
    problem: 'not enough ready replicas (0/1)',
  },
  {
    nouns: ['daemonSet', 'DaemonSet', 'failed to retrieve DaemonSet'],
    path: `/apis/apps/v1/namespaces/${namespace}/daemonsets/csi`,
    check: daemonSetCheck(csi),
    healthy: {},
    unhealthy: { numberMisscheduled: 2 },
    problem: 'misscheduled pods found (2)',
  },
  {
    nouns: [
      'managed resource',
      'Managed Resource',
      'check Managed Resource failed. Unable to retrieve managed resource',
    ],
    path: managedResources,
    check: managedResourceCheck('csi'),
    healthy: { conditions: [applied, condition('ResourcesHealthy', 'True')] },
    unhealthy: { conditions: [applied, condition('ResourcesHealthy', 'False')] },
    problem: 'condition ResourcesHealthy of managed resource shoot--dev--one/x is False: m',
  },
])('the check of a $nouns.0 is True, False, or rejects if the object cannot be read', async (kind) => {
  const { path, check, healthy, unhealthy, problem } = kind;
  const [noun, missing, unread] = kind.nouns as [string, string, string];
  expect(await inSeed(check, { [path]: object(healthy) })).toEqual({ status: 'True' });
  const detail = `${noun} ${where} is unhealthy: ${problem}`;
  expect(await inSeed(check, { [path]: object(unhealthy) })).toEqual({ status: 'False', detail, codes: [] });
  expect(await inSeed(check, {})).toEqual({ status: 'False', detail: `${missing} ${where} not found` });
  const forbidden = new ApiError({ code: 'Forbidden', message: '403' });
  await expect(inSeed(check, { [path]: forbidden })).rejects.toThrow(`${unread} ${where}: 403`);
});

const misscheduled = object({ numberMisscheduled: 2 });
const path = (ns: string) => `/apis/apps/v1/namespaces/${ns}/daemonsets/csi%2F1`;

it.each([
  ['seed', undefined, namespace],
  ['seed', 'garden', 'garden'],
  ['shoot', undefined, 'kube-system'],
  ['shoot', 'default', 'default'],
] as const)(
  'the cluster and namespace of a check are the %s and, for the option %s, the namespace %s',
  async (cluster, given, looked) => {
    const check = daemonSetCheck({ cluster, name: 'csi/1', ...(given === undefined ? {} : { namespace: given }) });
    expect(await check(contextOf({ [cluster]: { [path(looked)]: misscheduled } }))).toMatchObject({
      status: 'False',
      detail: `daemonSet "csi/1" in namespace "${looked}" is unhealthy: misscheduled pods found (2)`,
    });
  },
);

it.each([
  ['error during apply of object "v1/ConfigMap/a/b" is invalid: data', ['ERR_CONFIGURATION_PROBLEM']],
  ['Error during apply of object x Is Invalid: y', ['ERR_CONFIGURATION_PROBLEM']],
  ['error during apply of object "v1/ConfigMap/a/b": timeout', []],
])('a ManagedResource with an invalid object: %s: %j', async (message, codes) => {
  const conditions = [condition('ResourcesApplied', 'False', message)];
  const found = await inSeed(managedResourceCheck('csi'), { [managedResources]: object({ conditions }) });
  expect(found).toMatchObject({ status: 'False', codes });
});
