import { type SimObject, type SimRef, asMap, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { isObserved, replicaSetOf, wantedOf, withStatus } from './workloads.ts';

const whole = (value: unknown, absent: number): number => (typeof value === 'number' ? value : absent);

const readyReplicasOf = (deployment: SimObject | undefined): number =>
  whole(asMap(deployment?.status).readyReplicas, 0);

/**
 * Simulates Deployments: the status follows the spec, first `observedGeneration`, then the counts. A Deployment that has a ReplicaSet
 * scales it, and `startReplicaSets` counts its pods. Without one, pods that are no longer wanted leave the counts after `podStopMs`,
 * without their grace period, because ReplicaSets ignore pods that are being deleted (k8s.io/kubernetes/pkg/controller,
 * FilterActivePods); new ones count as ready after `podStartMs`.
 */
export const startDeploymentController = ({ clock, random, timing, store }: ActorDeps): (() => void) => {
  const kind = simKinds.Deployment;
  /** Cancels the pending step of each Deployment; each has at most one. */
  const cancels = new Map<string, () => void>();

  const after = (ref: SimRef, ms: number, step: () => void): void => {
    const key = `${ref.namespace ?? ''}/${ref.name}`;
    cancels.get(key)?.();
    cancels.set(key, clock.timer(ms * (0.8 + 0.4 * random.next()), step));
  };

  const settle = (ref: SimRef): void => {
    store.patch(kind, ref, (deployment) => {
      const count = wantedOf(deployment);
      const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
      return withStatus(deployment, counts);
    });
  };

  const observe = (ref: SimRef): void => {
    const found = store.patch(kind, ref, (deployment) =>
      withStatus(deployment, { observedGeneration: deployment.metadata.generation }),
    );
    if (found === undefined) return;
    const replicaSet = replicaSetOf(store, found);
    if (replicaSet !== undefined) {
      const spec = { ...asMap(replicaSet.spec), replicas: wantedOf(found) };
      store.patch(simKinds.ReplicaSet, replicaSet.metadata, (old) => ({ ...old, spec }));
      return;
    }
    const replicas = Math.max(wantedOf(found), readyReplicasOf(found));
    store.patch(kind, ref, (deployment) => withStatus(deployment, { replicas }));
    const missing = wantedOf(found) - readyReplicasOf(found);
    if (missing !== 0) after(ref, missing > 0 ? timing.podStartMs : timing.podStopMs, () => settle(ref));
  };

  const reconcile = (deployment: SimObject): void => {
    const ref = deployment.metadata;
    if (isObserved(deployment)) return;
    after(ref, timing.observeMs, () => observe(ref));
  };

  const unsubscribe = store.subscribe(kind, ({ type, object }) => {
    if (type === 'DELETED') cancels.get(`${object.metadata.namespace ?? ''}/${object.metadata.name}`)?.();
    else reconcile(object);
  });
  for (const deployment of store.list(kind)) reconcile(deployment);
  return () => {
    unsubscribe();
    for (const cancel of cancels.values()) cancel();
  };
};

/** Calls `start` whenever the Deployment gets its first ready replica, and the function that `start` returned when it loses the last one. */
export const whileReady = (
  { store, ref }: { readonly store: ActorDeps['store']; readonly ref: SimRef },
  start: () => () => void,
): (() => void) => {
  let stop: (() => void) | undefined;
  const update = (deployment: SimObject | undefined): void => {
    const isReady = readyReplicasOf(deployment) > 0;
    if (isReady) stop ??= start();
    else {
      stop?.();
      stop = undefined;
    }
  };
  const unsubscribe = store.subscribe(
    simKinds.Deployment,
    ({ type, object }) => {
      if (object.metadata.name === ref.name) update(type === 'DELETED' ? undefined : object);
    },
    ref.namespace,
  );
  update(store.get(simKinds.Deployment, ref));
  return () => {
    unsubscribe();
    stop?.();
  };
};
