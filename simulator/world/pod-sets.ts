import { type SimKind, type SimObject, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { isReady } from './pod-status.ts';
import { controllerOf, countsOf, isActive, podFor, podsOf, replicaSetOf, wantedOf, withStatus } from './workloads.ts';

/** Order in which surplus pods are deleted: not ready before ready, young before old (`ActivePodsWithRanks` in k8s.io/kubernetes/pkg/controller). */
const byWorth = (a: SimObject, b: SimObject): number => {
  const born = (pod: SimObject): number => Date.parse(pod.metadata.creationTimestamp);
  return Number(isReady(a)) - Number(isReady(b)) || born(b) - born(a);
};

/**
 * Starts the ReplicaSet controller of one namespace: pods follow the ReplicaSet, and the counts of the ReplicaSet and its Deployment follow
 * the pods. A pod that is being deleted no longer counts, so its replacement is created at once. The dependents of a deleted owner are
 * deleted, as by the garbage collector.
 */
export const startReplicaSets = ({ store }: Pick<ActorDeps, 'store'>, namespace: string): (() => void) => {
  const countPods = (replicaSet: SimObject): void => {
    const { generation } = replicaSet.metadata;
    const counts = countsOf(podsOf(store, replicaSet));
    store.patch(simKinds.ReplicaSet, replicaSet.metadata, (old) =>
      withStatus(old, { observedGeneration: generation, ...counts }),
    );
    const owner = controllerOf(replicaSet);
    const deployment = store.list(simKinds.Deployment, namespace).find(({ metadata }) => metadata.uid === owner);
    if (deployment === undefined) return;
    store.patch(simKinds.Deployment, deployment.metadata, (old) =>
      withStatus(old, { ...counts, updatedReplicas: counts.replicas }),
    );
  };

  const reconcile = (replicaSet: SimObject): void => {
    const active = podsOf(store, replicaSet).filter(isActive);
    const missing = wantedOf(replicaSet) - active.length;
    for (let index = 0; index < missing; index += 1) {
      store.put(simKinds.Pod, podFor(replicaSet, `${replicaSet.metadata.name}-`));
    }
    const surplus = active.toSorted(byWorth).slice(0, Math.max(0, -missing));
    for (const pod of surplus) store.delete(simKinds.Pod, pod.metadata);
    countPods(replicaSet);
  };

  const collect = (owner: SimObject): void => {
    const replicaSet = replicaSetOf(store, owner);
    if (replicaSet !== undefined) store.remove(simKinds.ReplicaSet, replicaSet.metadata);
    for (const pod of podsOf(store, owner)) store.delete(simKinds.Pod, pod.metadata);
  };

  const onPod = (pod: SimObject): void => {
    const owner = controllerOf(pod);
    const replicaSet = store.list(simKinds.ReplicaSet, namespace).find(({ metadata }) => metadata.uid === owner);
    if (replicaSet !== undefined) reconcile(replicaSet);
  };

  const follow = (kind: SimKind, look: (object: SimObject) => void): (() => void) =>
    store.subscribe(kind, ({ type, object }) => (type === 'DELETED' ? collect(object) : look(object)), namespace);
  const unsubscribes = [
    follow(simKinds.Deployment, () => undefined),
    follow(simKinds.ReplicaSet, reconcile),
    store.subscribe(simKinds.Pod, ({ object }) => onPod(object), namespace),
  ];
  for (const replicaSet of store.list(simKinds.ReplicaSet, namespace)) reconcile(replicaSet);
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  };
};

/**
 * Starts the StatefulSet controller of one namespace, with the pod management policy `Parallel`: pods are numbered, and a replacement has
 * the same name as the deleted pod, so it is created only when that pod is gone.
 */
export const startStatefulSets = ({ store }: Pick<ActorDeps, 'store'>, namespace: string): (() => void) => {
  const reconcile = (set: SimObject): void => {
    const { name, generation } = set.metadata;
    const wanted = Array.from({ length: wantedOf(set) }, (_, index) => `${name}-${index}`);
    for (const pod of podsOf(store, set)) {
      if (!wanted.includes(pod.metadata.name)) store.delete(simKinds.Pod, pod.metadata);
    }
    for (const pod of wanted) {
      if (store.get(simKinds.Pod, { namespace, name: pod }) === undefined) store.put(simKinds.Pod, podFor(set, pod));
    }
    const counts = countsOf(podsOf(store, set));
    store.patch(simKinds.StatefulSet, set.metadata, (old) =>
      withStatus(old, { observedGeneration: generation, ...counts }),
    );
  };

  const reconcileAll = (): void => {
    for (const set of store.list(simKinds.StatefulSet, namespace)) reconcile(set);
  };

  const unsubscribes = [
    store.subscribe(simKinds.StatefulSet, reconcileAll, namespace),
    store.subscribe(simKinds.Pod, reconcileAll, namespace),
  ];
  reconcileAll();
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
  };
};
