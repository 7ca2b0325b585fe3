import { describe, expect, it } from 'vitest';
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

const kinds = [
  {
    noun: 'deployment',
    absent: 'deployment "csi" in namespace "shoot--dev--one" not found',
    unread: 'failed to retrieve deployment "csi" in namespace "shoot--dev--one"',
    path: '/apis/apps/v1/namespaces/shoot--dev--one/deployments/csi',
    check: deploymentCheck({ cluster: 'seed', name: 'csi' }),
    healthy: object({ conditions: [condition('Available', 'True')] }),
    unhealthy: object({ conditions: [condition('Available', 'False')] }),
    problem: 'condition "Available" has invalid status False (expected True) due to R: m',
  },
  {
    noun: 'statefulSet',
    absent: 'StatefulSet "csi" in namespace "shoot--dev--one" not found',
    unread: 'failed to retrieve StatefulSet "csi" in namespace "shoot--dev--one"',
    path: '/apis/apps/v1/namespaces/shoot--dev--one/statefulsets/csi',
    check: statefulSetCheck({ cluster: 'seed', name: 'csi' }),
    healthy: object({ readyReplicas: 1 }),
    unhealthy: object({}),
    problem: 'not enough ready replicas (0/1)',
  },
  {
    noun: 'daemonSet',
    absent: 'DaemonSet "csi" in namespace "shoot--dev--one" not found',
    unread: 'failed to retrieve DaemonSet "csi" in namespace "shoot--dev--one"',
    path: '/apis/apps/v1/namespaces/shoot--dev--one/daemonsets/csi',
    check: daemonSetCheck({ cluster: 'seed', name: 'csi' }),
    healthy: object({}),
    unhealthy: object({ numberMisscheduled: 2 }),
    problem: 'misscheduled pods found (2)',
  },
  {
    noun: 'managed resource',
    absent: 'Managed Resource "csi" in namespace "shoot--dev--one" not found',
    unread: 'check Managed Resource failed. Unable to retrieve managed resource "csi" in namespace "shoot--dev--one"',
    path: '/apis/resources.gardener.cloud/v1alpha1/namespaces/shoot--dev--one/managedresources/csi',
    check: managedResourceCheck('csi'),
    healthy: object({ conditions: [condition('ResourcesApplied', 'True'), condition('ResourcesHealthy', 'True')] }),
    unhealthy: object({ conditions: [condition('ResourcesApplied', 'True'), condition('ResourcesHealthy', 'False')] }),
    problem: 'condition ResourcesHealthy of managed resource shoot--dev--one/x is False: m',
  },
];

const inSeed = (check: Check, seed: StubAnswers) => check(contextOf({ seed }));

describe.each(kinds)('the check of a $noun', ({ noun, absent, unread, path, check, healthy, unhealthy, ...texts }) => {
  const what = `${noun} "csi" in namespace "shoot--dev--one"`;

  it('that is healthy', async () => {
    expect(await inSeed(check, { [path]: healthy })).toEqual({ status: 'True' });
  });

  it('that is unhealthy', async () => {
    const detail = `${what} is unhealthy: ${texts.problem}`;
    expect(await inSeed(check, { [path]: unhealthy })).toEqual({ status: 'False', detail, codes: [] });
  });

  it('that does not exist', async () => {
    expect(await inSeed(check, {})).toEqual({ status: 'False', detail: absent });
  });

  it('that cannot be read rejects', async () => {
    const forbidden = new ApiError({ code: 'Forbidden', message: `GET ${path}: 403 Forbidden: no` });
    await expect(inSeed(check, { [path]: forbidden })).rejects.toThrow(`${unread}: GET ${path}: 403 Forbidden: no`);
  });
});

describe('the cluster and namespace of a check', () => {
  const misscheduled = object({ numberMisscheduled: 2 });
  const path = (ns: string) => `/apis/apps/v1/namespaces/${ns}/daemonsets/csi%2F1`;

  it.each([
    ['seed', undefined, namespace],
    ['seed', 'garden', 'garden'],
    ['shoot', undefined, 'kube-system'],
    ['shoot', 'default', 'default'],
  ] as const)('are the %s and, for the option %s, the namespace %s', async (cluster, given, looked) => {
    const check = daemonSetCheck({ cluster, name: 'csi/1', ...(given === undefined ? {} : { namespace: given }) });
    expect(await check(contextOf({ [cluster]: { [path(looked)]: misscheduled } }))).toMatchObject({
      status: 'False',
      detail: `daemonSet "csi/1" in namespace "${looked}" is unhealthy: misscheduled pods found (2)`,
    });
  });
});

describe('a ManagedResource with an invalid object', () => {
  it.each([
    ['error during apply of object "v1/ConfigMap/a/b" is invalid: data', ['ERR_CONFIGURATION_PROBLEM']],
    ['Error during apply of object x Is Invalid: y', ['ERR_CONFIGURATION_PROBLEM']],
    ['error during apply of object "v1/ConfigMap/a/b": timeout', []],
  ])('%s: %j', async (message, codes) => {
    const conditions = [condition('ResourcesApplied', 'False', message)];
    const [{ path, check }] = kinds.slice(-1) as [(typeof kinds)[number]];
    expect(await inSeed(check, { [path]: object({ conditions }) })).toMatchObject({ status: 'False', codes });
  });
});
