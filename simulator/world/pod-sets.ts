import { type SimKind, type SimObject, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { controllerOf, countsOf, isActive, podFor, podsOf, wantedOf, withStatus } from './workloads.ts';

const kinds = [simKinds.ReplicaSet, simKinds.StatefulSet] as const;

/**
 * Starts the controller of the ReplicaSets and StatefulSets of one namespace: pods follow their set, and the counts of the set, and of the
 * Deployment of a ReplicaSet, follow the pods. A pod that is being deleted no longer counts, so its replacement is created at once, in a
 * StatefulSet under the same name once that pod is gone.
 */
export const startPodSets = ({ store }: Pick<ActorDeps, 'store'>, namespace: string): (() => void) => {
  /** Names of the pods that a set lacks. A name that ends in a dash is a `generateName`. */
  const missingIn = (set: SimObject, active: readonly SimObject[]): readonly string[] => {
    const { name } = set.metadata;
    if (set.kind === 'ReplicaSet') {
      return Array.from({ length: Math.max(0, wantedOf(set) - active.length) }, () => `${name}-`);
    }
    const numbered = Array.from({ length: wantedOf(set) }, (_, index) => `${name}-${String(index)}`);
    return numbered.filter((pod) => store.get(simKinds.Pod, { namespace, name: pod }) === undefined);
  };

  const countPods = (kind: SimKind, set: SimObject): void => {
    const counts = countsOf(podsOf(store, set));
    const { generation } = set.metadata;
    store.patch(kind, set.metadata, (old) => withStatus(old, { observedGeneration: generation, ...counts }));
    const owner = controllerOf(set);
    const deployment = store.list(simKinds.Deployment, namespace).find(({ metadata }) => metadata.uid === owner);
    if (deployment === undefined) return;
    store.patch(simKinds.Deployment, deployment.metadata, (old) =>
      withStatus(old, { ...counts, updatedReplicas: counts.replicas }),
    );
  };

  const reconcile = (kind: SimKind, set: SimObject): void => {
    const active = podsOf(store, set).filter(isActive);
    for (const name of missingIn(set, active)) store.put(simKinds.Pod, podFor(set, name));
    for (const pod of active.slice(wantedOf(set))) store.delete(simKinds.Pod, pod.metadata);
    countPods(kind, set);
  };

  const stops = kinds.flatMap((kind) => {
    const reconcileAll = (isMeant: (set: SimObject) => boolean): void => {
      for (const set of store.list(kind, namespace)) if (isMeant(set)) reconcile(kind, set);
    };
    reconcileAll(() => true);
    return [
      store.subscribe(kind, ({ object }) => reconcile(kind, object), namespace),
      store.subscribe(
        simKinds.Pod,
        ({ object }) => reconcileAll(({ metadata }) => metadata.uid === controllerOf(object)),
        namespace,
      ),
    ];
  });
  return () => {
    for (const stop of stops) stop();
  };
};
