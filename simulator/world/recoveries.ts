import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, type SimStore, asMap, simKinds } from '../apiserver/index.ts';
import { wantedOf } from './workloads.ts';

/** Recovery of a Deployment that failed with etcd. Times in milliseconds since the epoch. */
export interface PodRecovery {
  /** Name of the Deployment. */
  readonly owner: string;
  readonly etcdReadyAt: number;
  /** Time at which all its pods were ready again. */
  readonly podsReadyAt: number;
}

const isWhole = (deployment: SimObject): boolean =>
  Number(asMap(deployment.status).readyReplicas ?? 0) >= wantedOf(deployment);

/** Measures how long Deployments of the namespace stay down after etcd is ready again. Deployments that never went down are left out. */
export const startRecoveryLog = (
  { clock, store }: { readonly clock: Clock; readonly store: SimStore },
  namespace: string,
) => {
  const recoveries: PodRecovery[] = [];
  /** Deployments that are down. Defined from the failure of etcd until all are ready again. */
  let down: Set<string> | undefined;
  let etcdReadyAt: number | undefined;

  const endWhenAllAreBack = (): void => {
    if (etcdReadyAt !== undefined && down?.size === 0) down = undefined;
  };

  const observe = (deployment: SimObject): void => {
    const { name: owner } = deployment.metadata;
    if (down === undefined) return;
    if (!isWhole(deployment)) down.add(owner);
    else if (down.delete(owner) && etcdReadyAt !== undefined && wantedOf(deployment) > 0) {
      recoveries.push({ owner, etcdReadyAt, podsReadyAt: clock.now() });
    }
    endWhenAllAreBack();
  };

  const stop = store.subscribe(
    simKinds.Deployment,
    ({ type, object }) => (type === 'DELETED' ? down?.delete(object.metadata.name) : observe(object)),
    namespace,
  );
  return {
    /** Must be called when etcd's Service becomes ready or stops being ready. */
    onEtcd: (isReady: boolean): void => {
      if (!isReady) down ??= new Set();
      etcdReadyAt = isReady ? clock.now() : undefined;
      endWhenAllAreBack();
    },
    list: (): readonly PodRecovery[] => [...recoveries],
    stop,
  };
};
