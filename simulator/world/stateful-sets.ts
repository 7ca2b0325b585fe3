import { type SimObject, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { countsOf, podFor, podsOf, wantedOf, withStatus } from './workloads.ts';

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
