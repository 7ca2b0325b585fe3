import { describe, expect, it } from 'vitest';
import { judgeKind } from './known-kinds.ts';

describe('judgeKind', () => {
  it.each([
    ['v1', 'ReplicationController'],
    ['machine.sapcloud.io/v1alpha1', 'MachineDeployment'],
    ['druid.gardener.cloud/v1alpha1', 'Etcd'],
  ])('knows that %s %s can be scaled', (apiVersion, kind) => {
    expect(judgeKind({ apiVersion, kind })).toEqual({ kind: 'scalable' });
  });

  it.each([
    ['apps/v1', 'deployment', 'apiVersion: apps/v1 and kind: Deployment'],
    ['apps/v1', 'deploy', 'apiVersion: apps/v1 and kind: Deployment'],
    ['apps', 'Deployment', 'apiVersion: apps/v1 and kind: Deployment'],
    ['apps/v1beta2', 'Deployment', 'apiVersion: apps/v1 and kind: Deployment'],
    ['extensions/v1beta1', 'Deployment', 'apiVersion: apps/v1 and kind: Deployment'],
    ['apps/v1', 'ReplicationController', 'apiVersion: v1 and kind: ReplicationController'],
    ['apps/v1', 'DaemonSet', 'a DaemonSet has no scale subresource'],
    ['batch/v1', 'jobs', 'a Job has no scale subresource'],
    ['v1', 'pod', 'a Pod has no scale subresource'],
    ['discovery.k8s.io/v1', 'EndpointSlice', 'a EndpointSlice has no scale subresource'],
  ])('knows that %s %s never can', (apiVersion, kind, expected) => {
    const judgement = judgeKind({ apiVersion, kind });
    expect(judgement.kind === 'wrong' && judgement.problem).toContain(expected);
  });

  it.each([
    ['example.com/v1', 'Deployment'],
    ['apps.kruise.io/v1beta1', 'StatefulSet'],
    ['apps/v1', 'Windmill'],
  ])('leaves %s %s to the seed', (apiVersion, kind) => {
    expect(judgeKind({ apiVersion, kind })).toEqual({ kind: 'unknown' });
  });
});
