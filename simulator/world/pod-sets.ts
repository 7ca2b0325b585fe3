import { type SimKind, type SimObject, type SimRef, asMap, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { isReady } from './pod-status.ts';
import {
  controllerOf,
  countsOf,
  isActive,
  isObserved,
  podFor,
  podsOf,
  replicaSetOf,
  wantedOf,
  withStatus,
} from './workloads.ts';

/** Order in which surplus pods are deleted: not ready before ready, young before old (`ActivePodsWithRanks` in k8s.io/kubernetes/pkg/controller). */
const byWorth = (a: SimObject, b: SimObject): number => {
  const born = (pod: SimObject): number => Date.parse(pod.metadata.creationTimestamp);
  return Number(isReady(a)) - Number(isReady(b)) || born(b) - born(a);
};

/**
 * The Deployment and ReplicaSet controllers of one namespace, for Deployments whose pods are simulated: the ReplicaSet follows the
 * Deployment, pods follow the ReplicaSet, and the counts of both follow the pods. A pod that is being deleted no longer counts, so its
 * replacement is created at once.
 */
class ReplicaSetController {
  readonly #deps: ActorDeps;
  readonly #namespace: string;
  /** Cancels the pending step of each Deployment; each has at most one. */
  readonly #cancels = new Map<string, () => void>();

  constructor(deps: ActorDeps, namespace: string) {
    this.#deps = deps;
    this.#namespace = namespace;
  }

  start(): () => void {
    const [{ store }, namespace] = [this.#deps, this.#namespace];
    const follow = (kind: SimKind, look: (object: SimObject) => void): (() => void) =>
      store.subscribe(
        kind,
        ({ type, object }) => (type === 'DELETED' ? this.#collect(object) : look(object)),
        namespace,
      );
    const unsubscribes = [
      follow(simKinds.Deployment, (deployment) => this.#onDeployment(deployment)),
      follow(simKinds.ReplicaSet, (replicaSet) => this.#reconcile(replicaSet)),
      store.subscribe(simKinds.Pod, ({ object }) => this.#onPod(object), namespace),
    ];
    for (const deployment of store.list(simKinds.Deployment, namespace)) this.#onDeployment(deployment);
    for (const replicaSet of store.list(simKinds.ReplicaSet, namespace)) this.#reconcile(replicaSet);
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
      for (const cancel of this.#cancels.values()) cancel();
    };
  }

  #onDeployment(deployment: SimObject): void {
    const { clock, random, timing, store } = this.#deps;
    const { uid } = deployment.metadata;
    if (isObserved(deployment) || replicaSetOf(store, deployment) === undefined) return;
    this.#cancels.get(uid)?.();
    const ms = timing.observeMs * (0.8 + 0.4 * random.next());
    this.#cancels.set(
      uid,
      clock.timer(ms, () => this.#observe(deployment.metadata)),
    );
  }

  #observe(ref: SimRef): void {
    const { store } = this.#deps;
    const deployment = store.patch(simKinds.Deployment, ref, (old) =>
      withStatus(old, { observedGeneration: old.metadata.generation }),
    );
    const replicaSet = deployment && replicaSetOf(store, deployment);
    if (deployment === undefined || replicaSet === undefined) return;
    store.patch(simKinds.ReplicaSet, replicaSet.metadata, (old) => ({
      ...old,
      spec: { ...asMap(old.spec), replicas: wantedOf(deployment) },
    }));
  }

  #onPod(pod: SimObject): void {
    const owner = controllerOf(pod);
    const sets = this.#deps.store.list(simKinds.ReplicaSet, this.#namespace);
    const replicaSet = sets.find(({ metadata }) => metadata.uid === owner);
    if (replicaSet !== undefined) this.#reconcile(replicaSet);
  }

  #reconcile(replicaSet: SimObject): void {
    const { store } = this.#deps;
    const active = podsOf(store, replicaSet).filter(isActive);
    const missing = wantedOf(replicaSet) - active.length;
    for (let index = 0; index < missing; index += 1) {
      store.put(simKinds.Pod, podFor(replicaSet, `${replicaSet.metadata.name}-`));
    }
    const surplus = active.toSorted(byWorth).slice(0, Math.max(0, -missing));
    for (const pod of surplus) store.delete(simKinds.Pod, pod.metadata);
    this.#countPods(replicaSet);
  }

  #countPods(replicaSet: SimObject): void {
    const { store } = this.#deps;
    const { generation } = replicaSet.metadata;
    const counts = countsOf(podsOf(store, replicaSet));
    store.patch(simKinds.ReplicaSet, replicaSet.metadata, (old) =>
      withStatus(old, { observedGeneration: generation, ...counts }),
    );
    const owner = controllerOf(replicaSet);
    const deployments = store.list(simKinds.Deployment, this.#namespace);
    const deployment = deployments.find(({ metadata }) => metadata.uid === owner);
    if (deployment === undefined) return;
    store.patch(simKinds.Deployment, deployment.metadata, (old) =>
      withStatus(old, { ...counts, updatedReplicas: counts.replicas }),
    );
  }

  /** Deletes the dependents of a deleted owner, as the garbage collector does. */
  #collect(owner: SimObject): void {
    const { store } = this.#deps;
    this.#cancels.get(owner.metadata.uid)?.();
    const replicaSet = replicaSetOf(store, owner);
    if (replicaSet !== undefined) store.remove(simKinds.ReplicaSet, replicaSet.metadata);
    for (const pod of podsOf(store, owner)) store.delete(simKinds.Pod, pod.metadata);
  }
}

export const startReplicaSets = (deps: ActorDeps, namespace: string): (() => void) =>
  new ReplicaSetController(deps, namespace).start();

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
