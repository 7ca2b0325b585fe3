import { describe, expect, it } from 'vitest';
import { simKinds } from '../apiserver/kinds.ts';
import type { SimObject } from '../apiserver/object.ts';
import { type PodWorld, containerStatusOf, podOf, podsOf, readyReplicas, startPodWorld } from './testing/pods.ts';

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
  it('are ready from the start, labelled as in Gardener, and controlled by a ReplicaSet', () => {
    const set = startPodWorld();
    const pod = podOf(set, kcm);
    const [replicaSet] = set.store
      .list(simKinds.ReplicaSet, set.shoot.namespace)
      .filter(({ metadata }) => metadata.name.startsWith(kcm));
    expect(pod.metadata.labels).toEqual({
      app: 'kubernetes',
      role: 'controller-manager',
      'gardener.cloud/role': 'controlplane',
    });
    expect(ownersOf(pod)).toEqual([`[ReplicaSet ${replicaSet!.metadata.name}]`]);
    expect(pod.metadata.name).toMatch(new RegExp(`^${replicaSet!.metadata.name}-[a-z0-9]{5}$`));
    expect(containerStatusOf(pod)).toMatchObject({ ready: true, restartCount: 0, state: { running: {} } });
    expect(deploymentOf(set).status).toMatchObject({ observedGeneration: 1, readyReplicas: 1, replicas: 1 });
  });

  it('have a replacement at once when one is deleted, while that one still terminates', async () => {
    const set = startPodWorld();
    const before = podOf(set, kcm);
    set.store.delete(simKinds.Pod, before.metadata);
    const pods = podsOf(set, kcm);
    expect(pods).toHaveLength(2);
    expect(pods.filter(isEnding).map(({ metadata }) => metadata.uid)).toEqual([before.metadata.uid]);
    expect(readyReplicas(set, kcm)).toBe(0);
    await set.clock.advance(2_000);
    expect(podOf(set, kcm).metadata.uid).not.toBe(before.metadata.uid);
    await set.clock.advance(20_000);
    expect(readyReplicas(set, kcm)).toBe(1);
  });

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

  it('are as many as the shoot was created with', () => {
    const set = startPodWorld({ replicas: { 'kube-apiserver': 3, 'cluster-autoscaler': 0 } });
    expect(podsOf(set, 'kube-apiserver')).toHaveLength(3);
    expect(podsOf(set, 'cluster-autoscaler')).toEqual([]);
    expect(set.store.get(simKinds.Deployment, { namespace: set.shoot.namespace, name: 'cluster-autoscaler' })).toBe(
      undefined,
    );
  });
});

describe('the pods of a StatefulSet', () => {
  it('are replaced under the same names, once they are gone', async () => {
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
});

describe('a pod without a controller', () => {
  it('crash-loops like any other, and is not replaced', async () => {
    const set = startPodWorld();
    const { clock, shoot, store } = set;
    const { metadata, spec } = podOf(set, kcm);
    store.put(simKinds.Pod, {
      metadata: { name: 'kube-controller-manager-bare', namespace: shoot.namespace, labels: metadata.labels },
      spec,
    });
    const bare = { namespace: shoot.namespace, name: 'kube-controller-manager-bare' };
    await clock.advance(20_000);
    expect(containerStatusOf(store.get(simKinds.Pod, bare)!)).toMatchObject({ ready: true });
    expect(deploymentOf(set).status).toMatchObject({ replicas: 1 });
    shoot.breakEtcd();
    await clock.advance(60_000);
    expect(containerStatusOf(store.get(simKinds.Pod, bare)!)?.restartCount).toBeGreaterThan(0);
    store.delete(simKinds.Pod, bare);
    await clock.advance(60_000);
    expect(store.get(simKinds.Pod, bare)).toBeUndefined();
  });
});
