import { decodeShootState } from '../gardener/cluster.ts';
import { childObject, decodeObject } from '../kubernetes/api/decode.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type Informer, type InformerDeps, type StoreChange, createInformer } from '../kubernetes/cache/index.ts';

/** Fields of a Cluster whose change triggers the checks of its extension objects at once. */
export interface ClusterState {
  readonly hibernated: boolean;
  /** True if the control plane is being moved to another seed. */
  readonly migrating: boolean;
}

/** Decodes a Cluster (`extensions.gardener.cloud/v1alpha1`). */
export const decodeClusterState = (json: unknown, path: string): ClusterState => {
  const spec = childObject(decodeObject(json, path), path, 'spec');
  const shoot = childObject(spec, `${path}.spec`, 'shoot');
  const { hibernationEnabled, lastOperation } = decodeShootState(shoot, `${path}.spec.shoot`);
  return { hibernated: hibernationEnabled, migrating: lastOperation?.type === 'Migrate' };
};

/** A watch of the seed's Clusters. */
export type ClusterWatch = Informer<ClusterState>;

export const createClusterWatch = (options: InformerDeps & { readonly kube: Kube }): ClusterWatch =>
  createInformer({
    ...options,
    path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
    project: decodeClusterState,
  });

/** True if the state has changed or the Cluster is new: an earlier run may have missed a new Cluster. */
const isRelevant = ({ type, value, previous }: StoreChange<ClusterState>): boolean =>
  type === 'set' && (value.hibernated !== previous?.hibernated || value.migrating !== previous.migrating);

/** Calls `listener` with the name of each Cluster whose `ClusterState` changes, from the first list until `signal` aborts. */
export const onClusterChange = async (
  clusters: ClusterWatch,
  listener: (name: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  await clusters.whenSynced(signal).catch(() => undefined);
  if (signal.aborted) return;
  const unsubscribe = clusters.subscribe((change) => {
    if (isRelevant(change)) listener(change.key);
  });
  signal.addEventListener('abort', unsubscribe, { once: true });
};
