import { type SimObject, type SimRef, asMap, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { isReady } from './pod-status.ts';
import { controllerOf, isActive, isObserved, podFor, podsOf, replicaSetOf, wantedOf } from './workloads.ts';

/** Those that are missed least: not ready before ready, young before old (`ActivePodsWithRanks` of k8s.io/kubernetes/pkg/controller). */
const byWorth = (a: SimObject, b: SimObject): number => {
  const born = (pod: SimObject): number => Date.parse(pod.metadata.creationTimestamp);
  return Number(isReady(a)) - Number(isReady(b)) || born(b) - born(a);
};

/**
 * The Deployment and ReplicaSet controllers of one namespace, for Deployments whose pods are simulated: the ReplicaSet follows the
 * Deployment, pods follow the ReplicaSet, and the counts of both follow the pods. A pod that is being deleted no longer counts, so its
 * successor is made at once.
 */
export const startReplicaSets = ({ clock, random, timing, store }: ActorDeps, namespace: string): (() => void) => {
  /** Of the one thing that each Deployment waits for. */
  const cancels = new Map<string, () => void>();

  const countPods = (replicaSet: SimObject): void => {
    const active = podsOf(store, replicaSet).filter(isActive);
    const ready = active.filter(isReady).length;
    const counts = { replicas: active.length, readyReplicas: ready, availableReplicas: ready };
    const { generation } = replicaSet.metadata;
    store.patch(simKinds.ReplicaSet, replicaSet.metadata, (old) => ({
      ...old,
      status: { ...asMap(old.status), observedGeneration: generation, ...counts },
    }));
    const deployment = store
      .list(simKinds.Deployment, namespace)
      .find(({ metadata }) => metadata.uid === controllerOf(replicaSet));
    if (deployment === undefined) return;
    store.patch(simKinds.Deployment, deployment.metadata, (old) => ({
      ...old,
      status: { ...asMap(old.status), ...counts, updatedReplicas: active.length },
    }));
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

  const observe = (ref: SimRef): void => {
    const deployment = store.patch(simKinds.Deployment, ref, (old) => ({
      ...old,
      status: { ...asMap(old.status), observedGeneration: old.metadata.generation },
    }));
    const replicaSet = deployment && replicaSetOf(store, deployment);
    if (deployment === undefined || replicaSet === undefined) return;
    store.patch(simKinds.ReplicaSet, replicaSet.metadata, (old) => ({
      ...old,
      spec: { ...asMap(old.spec), replicas: wantedOf(deployment) },
    }));
  };

  const onDeployment = (deployment: SimObject): void => {
    const { name, uid } = deployment.metadata;
    if (isObserved(deployment) || replicaSetOf(store, deployment) === undefined) return;
    cancels.get(uid)?.();
    const ms = timing.observeMs * (0.8 + 0.4 * random.next());
    cancels.set(
      uid,
      clock.timer(ms, () => observe({ namespace, name })),
    );
  };

  /** What the garbage collector does with the objects of an owner that is gone. */
  const collect = (owner: SimObject): void => {
    cancels.get(owner.metadata.uid)?.();
    const replicaSet = replicaSetOf(store, owner);
    if (replicaSet !== undefined) store.remove(simKinds.ReplicaSet, replicaSet.metadata);
    for (const pod of podsOf(store, owner)) store.delete(simKinds.Pod, pod.metadata);
  };

  const onPod = (pod: SimObject): void => {
    const owner = controllerOf(pod);
    const replicaSet = store.list(simKinds.ReplicaSet, namespace).find(({ metadata }) => metadata.uid === owner);
    if (replicaSet !== undefined) reconcile(replicaSet);
  };

  const unsubscribes = [
    store.subscribe(
      simKinds.Deployment,
      ({ type, object }) => (type === 'DELETED' ? collect(object) : onDeployment(object)),
      namespace,
    ),
    store.subscribe(
      simKinds.ReplicaSet,
      ({ type, object }) => (type === 'DELETED' ? collect(object) : reconcile(object)),
      namespace,
    ),
    store.subscribe(simKinds.Pod, ({ object }) => onPod(object), namespace),
  ];
  for (const deployment of store.list(simKinds.Deployment, namespace)) onDeployment(deployment);
  for (const replicaSet of store.list(simKinds.ReplicaSet, namespace)) reconcile(replicaSet);
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
    for (const cancel of cancels.values()) cancel();
  };
};
