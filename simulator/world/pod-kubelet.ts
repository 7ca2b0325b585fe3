import { type SimObject, simKinds } from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { PodWorker, type ContainerProgram } from './pod-worker.ts';

export interface PodKubeletInit {
  readonly namespace: string;
  readonly programOf: (pod: SimObject) => ContainerProgram;
}

const ipOf = (index: number): string => `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`;

/** Starts the kubelets of the seed's nodes, for the pods of one namespace. */
export const startPodKubelet = (deps: ActorDeps, { namespace, programOf }: PodKubeletInit) => {
  const { store } = deps;
  const workers = new Map<string, PodWorker>();
  let pods = 0;

  const care = (pod: SimObject): void => {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
    let worker = workers.get(uid);
    if (worker === undefined) {
      worker = new PodWorker(deps, { pod, program: programOf(pod), ip: ipOf(pods) });
      workers.set(uid, worker);
      pods += 1;
    }
    if (deletionTimestamp !== undefined) worker.terminate(deletionGracePeriodSeconds * 1000);
  };

  const forget = ({ metadata: { uid } }: SimObject): void => {
    workers.get(uid)?.stop();
    workers.delete(uid);
  };

  const unsubscribe = store.subscribe(
    simKinds.Pod,
    ({ type, object }) => (type === 'DELETED' ? forget(object) : care(object)),
    namespace,
  );
  for (const pod of store.list(simKinds.Pod, namespace)) care(pod);
  return {
    /** Must be called when a dependency of the programs has changed. */
    reconcile: (): void => {
      for (const worker of workers.values()) worker.reconcile();
    },
    stop: (): void => {
      unsubscribe();
      for (const worker of workers.values()) worker.stop();
    },
  };
};
