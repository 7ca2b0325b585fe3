import { describe, expect, it } from 'vitest';
import { buildDeployment } from '../../../test/doubles/builders.ts';
import {
  decodeScalable,
  getScale,
  isAtLeast,
  patchScalable,
  patchScale,
  scaledState,
  isPatchableWorkload,
  workloadState,
} from './scalable.ts';

const entry = (manager: string, time: string, fields: object) => ({
  manager,
  operation: 'Update',
  apiVersion: 'apps/v1',
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
});
const count = { 'f:spec': { 'f:replicas': {} } };
const template = { 'f:spec': { 'f:template': {} } };
const managerOf = (...managedFields: readonly object[]): string | undefined => {
  const deployment = buildDeployment({ name: 'a', namespace: 'b' });
  const object = { ...deployment, metadata: { ...deployment.metadata, managedFields } };
  const scalable = decodeScalable(object, 'Deployment');
  expect(workloadState(scalable).replicasManager).toBe(scalable.replicasManager);
  return scalable.replicasManager;
};

it.each([
  ['the owner of the field', [entry('gardenlet', '2026-11-22T10:00:00Z', { ...template, ...count })], 'gardenlet'],
  ['not an owner of other fields', [entry('gardenlet', '2026-11-22T10:00:00Z', template)], undefined],
  ['none from unreadable entries', [{ manager: 7, fieldsV1: [] }, { fieldsV1: 'x', time: {} }, {}], undefined],
  [
    'the latest of several owners',
    [
      entry('kubectl-scale', '2026-11-22T10:00:01Z', count),
      entry('gardenlet', '2026-11-22T09:59:59Z', count),
      entry('kube-controller-manager', '2026-11-22T10:00:02Z', { 'f:status': {} }),
    ],
    'kubectl-scale',
  ],
])('the manager of the replicas is %s', (_, fields, manager) => {
  expect(managerOf(...fields)).toBe(manager);
});

describe('states', () => {
  const workload = (options: Parameters<typeof buildDeployment>[0]) =>
    workloadState(decodeScalable(buildDeployment(options), 'Deployment'));

  it('of a workload are read from its object', () => {
    const annotations = { a: 'b' };
    expect(workload({ replicas: 3, readyReplicas: 2, annotations, resourceVersion: '7' })).toEqual({
      resourceVersion: '7',
      annotations,
      specReplicas: 3,
      readyReplicas: 2,
      observed: true,
    });
    expect(workload({ replicas: 0 })).toMatchObject({ specReplicas: 0, readyReplicas: 0 });
  });

  it.each([
    { generation: 4, observedGeneration: 3, observed: false },
    { generation: 4, observedGeneration: 4, observed: true },
  ])('generation $generation, observed $observedGeneration: $observed', ({ observed, ...generations }) => {
    expect(workload(generations).observed).toBe(observed);
    const object = decodeScalable(buildDeployment(generations), 'x');
    expect(scaledState(object, { resourceVersion: '1', specReplicas: 1, statusReplicas: 1 }).observed).toBe(observed);
  });

  it('of other kinds take replicas from the Scale, and ready replicas from the object if it has them', () => {
    const scale = { resourceVersion: '8', specReplicas: 3, statusReplicas: 2 };
    const bare = decodeScalable({ metadata: { name: 'a', generation: 5, resourceVersion: '7' } }, 'x');
    expect(scaledState(bare, scale)).toEqual({
      resourceVersion: '7',
      annotations: {},
      specReplicas: 3,
      readyReplicas: 2,
      observed: true,
    });
    const withReady = decodeScalable(
      { metadata: { name: 'a' }, spec: { replicas: 9 }, status: { readyReplicas: 0 } },
      'x',
    );
    expect(scaledState(withReady, scale)).toMatchObject({ specReplicas: 3, readyReplicas: 0 });
  });

  it('are read from custom resources that use our field names for something else', () => {
    const json = { metadata: { name: 'a' }, spec: { replicas: { min: 1 } }, status: { readyReplicas: 'all' } };
    expect(decodeScalable(json, 'x')).toMatchObject({ specReplicas: undefined, readyReplicas: undefined });
  });
});

it.each([
  ['apps/v1', 'Deployment', true],
  ['apps/v1', 'StatefulSet', true],
  ['apps/v1', 'DaemonSet', false],
  ['v1', 'ReplicationController', false],
  ['druid.gardener.cloud/v1alpha1', 'Etcd', false],
])('%s %s scale in one write: %s', (apiVersion, kind, atOnce) => {
  expect(isPatchableWorkload({ apiVersion, kind, name: 'x' })).toBe(atOnce);
});

it.each([
  ['10', '9', true],
  ['9', '10', false],
  ['9', '9', true],
  ['9007199254740993', '9007199254740992', true],
  ['9007199254740992', '9007199254740993', false],
  ['18446744073709551616', '5', true],
  ['abc', '5', true],
  ['5', 'abc', true],
])('%j is at least %j: %s', (a, b, expected) => {
  expect(isAtLeast(a, b)).toBe(expected);
});

describe('requests', () => {
  const etcd = {
    ref: { apiVersion: 'druid.gardener.cloud/v1alpha1', kind: 'Etcd', name: 'etcd-main' },
    resource: 'etcds',
    namespace: 'shoot--dev--one',
  };

  it('that write may be repeated, because they carry a resourceVersion', () => {
    const writes = [
      patchScalable(etcd, { resourceVersion: '7', annotations: {} }),
      patchScale(etcd, { resourceVersion: '7', replicas: 3 }),
    ];
    expect(writes.map(({ repeatable }) => repeatable)).toEqual([true, true]);
  });

  it('read a Scale, in which Go omits counts of 0', () => {
    const { decode } = getScale(etcd);
    expect(decode({ metadata: { resourceVersion: '8' }, spec: { replicas: 3 }, status: { replicas: 2 } })).toEqual({
      resourceVersion: '8',
      specReplicas: 3,
      statusReplicas: 2,
    });
    expect(decode({ metadata: {}, spec: {} })).toEqual({ resourceVersion: '', specReplicas: 0, statusReplicas: 0 });
    for (const json of [null, {}, { metadata: {}, spec: { replicas: '3' } }, { metadata: {}, status: [] }]) {
      expect(() => decode(json)).toThrow('scale');
    }
  });
});
