import { describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import type { SimObject } from '../apiserver/object.ts';
import {
  type PodWorld,
  containerStatusOf,
  endpointsOf,
  podOf,
  podsOf,
  readyReplicas,
  startPodWorld,
} from './testing/pods.ts';

const kcm = 'kube-controller-manager';

const deploymentOf = ({ store, shoot }: PodWorld, name = kcm): SimObject =>
  store.get(simKinds.Deployment, { namespace: shoot.namespace, name })!;

const scale = ({ store, shoot }: PodWorld, replicas: number): void => {
  store.patch(simKinds.Deployment, { namespace: shoot.namespace, name: kcm }, (old) => ({
    ...old,
    spec: { ...(old.spec as object), replicas },
  }));
};

const isEnding = ({ metadata }: SimObject): boolean => metadata.deletionTimestamp !== undefined;

/** Kinds and names of a pod's owners, the controller in brackets. */
const ownersOf = ({ metadata }: SimObject): readonly string[] =>
  (metadata.ownerReferences as { kind: string; name: string; controller: boolean }[]).map(
    ({ kind, name, controller }) => (controller ? `[${kind} ${name}]` : `${kind} ${name}`),
  );

describe('pods of a Deployment', () => {
  it('end within their grace period, even if they would take longer', async () => {
    const set = startPodWorld({}, { timing: { podEndMs: 20_000 } });
    const [mcm, scheduler] = ['machine-controller-manager', 'kube-scheduler'].map((name) => podOf(set, name).metadata);
    for (const pod of [mcm!, scheduler!]) set.store.delete(simKinds.Pod, pod);
    await set.clock.advance(4_999);
    expect([mcm!, scheduler!].map((pod) => set.store.get(simKinds.Pod, pod) !== undefined)).toEqual([true, true]);
    await set.clock.advance(1);
    expect([mcm!, scheduler!].map((pod) => set.store.get(simKinds.Pod, pod) !== undefined)).toEqual([false, true]);
    await set.clock.advance(15_000);
    expect(set.store.get(simKinds.Pod, scheduler!)).toBeUndefined();
  });

  it('follow the Deployment down and up, and its counts follow them', async () => {
    const set = startPodWorld();
    const { clock } = set;
    scale(set, 0);
    expect(podOf(set, kcm).metadata.deletionTimestamp).toBeUndefined();
    await clock.advance(240);
    expect(podsOf(set, kcm).map(isEnding)).toEqual([true]);
    expect(deploymentOf(set).status).toEqual({ observedGeneration: 2 });
    await clock.advance(2_000);
    expect(podsOf(set, kcm)).toEqual([]);
    const counts = new Set<number>();
    set.store.subscribe(simKinds.Deployment, () => counts.add(readyReplicas(set, kcm)));
    scale(set, 3);
    await clock.advance(240);
    expect(deploymentOf(set).status).toEqual({ observedGeneration: 3, replicas: 3, updatedReplicas: 3 });
    await clock.advance(9_600);
    expect([...counts]).toEqual([0]);
    await clock.advance(10_000);
    expect(readyReplicas(set, kcm)).toBe(3);
  });
});

it('an EndpointSlice shows a terminating pod, and its replacement once that has an address', async () => {
  const apiserver = 'kube-apiserver';
  const set = startPodWorld();
  set.store.delete(simKinds.Pod, podOf(set, apiserver).metadata);
  expect(podsOf(set, apiserver)).toHaveLength(2);
  expect(endpointsOf(set, apiserver)).toEqual(['not ready, ending']);
  await set.clock.advance(2_000);
  expect(endpointsOf(set, apiserver)).toEqual([]);
  await set.clock.advance(7_600);
  expect(endpointsOf(set, apiserver)).toEqual(['not ready']);
  await set.clock.advance(10_000);
  expect(endpointsOf(set, apiserver)).toEqual(['ready']);
});

it('the pods of a StatefulSet are replaced under the same names, once they are gone', async () => {
  const set = startPodWorld();
  const before = podOf(set, 'etcd-main');
  expect([before.metadata.name, ownersOf(before)]).toEqual(['etcd-main-0', ['[StatefulSet etcd-main]']]);
  set.store.delete(simKinds.Pod, before.metadata);
  expect(podOf(set, 'etcd-main').metadata).toMatchObject({ uid: before.metadata.uid });
  await set.clock.advance(2_000);
  const after = podOf(set, 'etcd-main');
  expect(after.metadata.name).toBe('etcd-main-0');
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  await set.clock.advance(9_600 + 10_000);
  expect(containerStatusOf(podOf(set, 'etcd-main'))).toMatchObject({ ready: true, restartCount: 0 });
});
