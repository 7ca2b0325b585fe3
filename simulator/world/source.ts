import { type SimKind, capiKinds, simKinds } from '../apiserver/index.ts';

/**
 * Cluster source of the simulated seed. `gardener`: each cluster has Gardener's Cluster, and a Machine for each node. `secret`: a seed
 * without Gardener, which serves neither kind; a Namespace with a Secret is the only sign of a cluster. `cluster-api`: each cluster has
 * the Cluster and the Machines of Cluster API, and a namespace may hold several clusters.
 */
export type WorldSource = 'gardener' | 'secret' | 'cluster-api';

const gardenKinds: readonly SimKind[] = [simKinds.Cluster, simKinds.Machine];

/** Returns the kinds that a seed with this source serves: those of `kinds` that exist there; for `cluster-api`, its own come first. */
export const servedKinds = (source: WorldSource, kinds: readonly SimKind[]): readonly SimKind[] => {
  if (source === 'gardener') return kinds;
  const others = kinds.filter((kind) => !gardenKinds.includes(kind));
  // The first version of a group is the preferred one.
  return source === 'secret' ? others : [...new Set([...Object.values(capiKinds), ...others])];
};

/** The object of the seed whose annotations control the simulation of a cluster. */
export interface ControlObject {
  readonly kind: SimKind;
  /** Name of the Cluster, which is also the name of the Namespace. */
  readonly name: string;
}

/**
 * Returns the cluster's Cluster, or its Namespace if there are no Clusters. A Cluster of Cluster API may be deleted while the nodes remain,
 * so for that source the store also holds a Cluster of Gardener's, which is not served.
 */
export const controlObjectOf = (source: WorldSource, name: string): ControlObject => ({
  kind: source === 'secret' ? simKinds.Namespace : simKinds.Cluster,
  name,
});
