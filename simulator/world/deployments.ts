import { type SimKind, type SimObject, asMap, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import type { Workload } from './objects.ts';
import { isObserved, replicaSetOf, wantedOf, withStatus } from './workloads.ts';

const whole = (value: unknown, absent: number): number => (typeof value === 'number' ? value : absent);

const readyReplicasOf = (workload: SimObject | undefined): number => whole(asMap(workload?.status).readyReplicas, 0);

/**
 * Simulates Deployments and other scalable kinds: the status follows the spec, first `observedGeneration`, then the counts. A Deployment that has
 * a ReplicaSet scales it, and `startPodSets` counts its pods. Without one, pods that are no longer wanted leave the counts after `podStopMs`,
 * without their grace period, because ReplicaSets ignore pods that are being deleted (k8s.io/kubernetes/pkg/controller,
 * FilterActivePods); new ones count as ready after `podStartMs`.
 */
export const startWorkloads = (deps: ActorDeps, others: readonly SimKind[]): (() => void) => {
  const stops = [...new Set([simKinds.Deployment, ...others])].map((kind) => startWorkload(deps, kind));
  return () => {
    for (const stop of stops) stop();
  };
};

const startWorkload = ({ clock, random, timing, store }: ActorDeps, kind: SimKind): (() => void) => {
  /** Cancels the pending step of each object, by UID; each has at most one. */
  const cancels = new Map<string, () => void>();

  const after = ({ uid }: SimObject['metadata'], ms: number, step: () => void): void => {
    cancels.get(uid)?.();
    cancels.set(uid, clock.timer(ms * (0.8 + 0.4 * random.next()), step));
  };

  const settle = (ref: SimObject['metadata']): void => {
    store.patch(kind, ref, (workload) => {
      const count = wantedOf(workload);
      const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
      return withStatus(workload, counts);
    });
  };

  const observe = (ref: SimObject['metadata']): void => {
    const found = store.patch(kind, ref, (workload) =>
      withStatus(workload, { observedGeneration: workload.metadata.generation }),
    );
    if (found === undefined) return;
    const replicaSet = replicaSetOf(store, found);
    if (replicaSet !== undefined) {
      const spec = { ...asMap(replicaSet.spec), replicas: wantedOf(found) };
      store.patch(simKinds.ReplicaSet, replicaSet.metadata, (old) => ({ ...old, spec }));
      return;
    }
    const replicas = Math.max(wantedOf(found), readyReplicasOf(found));
    store.patch(kind, ref, (workload) => withStatus(workload, { replicas }));
    const missing = wantedOf(found) - readyReplicasOf(found);
    if (missing !== 0) after(ref, missing > 0 ? timing.podStartMs : timing.podStopMs, () => settle(ref));
  };

  const reconcile = (workload: SimObject): void => {
    if (!isObserved(workload)) after(workload.metadata, timing.observeMs, () => observe(workload.metadata));
  };

  const unsubscribe = store.subscribe(kind, ({ type, object }) => {
    if (type === 'DELETED') cancels.get(object.metadata.uid)?.();
    else reconcile(object);
  });
  for (const workload of store.list(kind)) reconcile(workload);
  return () => {
    unsubscribe();
    for (const cancel of cancels.values()) cancel();
  };
};

/** Calls `start` whenever the workload gets its first ready replica, and the function that `start` returned when it loses the last one. */
export const whileReady = (
  {
    store,
    namespace,
    workload: { kind, name },
  }: Pick<ActorDeps, 'store'> & {
    readonly namespace: string;
    readonly workload: Workload;
  },
  start: () => () => void,
): (() => void) => {
  let stop: (() => void) | undefined;
  const update = (workload: SimObject | undefined): void => {
    const isReady = readyReplicasOf(workload) > 0;
    if (isReady) stop ??= start();
    else {
      stop?.();
      stop = undefined;
    }
  };
  const unsubscribe = store.subscribe(
    kind,
    ({ type, object }) => {
      if (object.metadata.name === name) update(type === 'DELETED' ? undefined : object);
    },
    namespace,
  );
  update(store.get(kind, { namespace, name }));
  return () => {
    unsubscribe();
    stop?.();
  };
};
