import { type SimKind, capiKinds, simKinds } from '../apiserver/index.ts';

/**
 * How the clusters of a seed are found. `gardener`: by a Cluster, with a Machine for each node. `secret`: the seed has never seen Gardener, and serves
 * neither: a Namespace with a Secret is all that shows a cluster. `cluster-api`: by the Cluster and the Machines of Cluster API, several clusters to a namespace.
 */
export type WorldSource = 'gardener' | 'secret' | 'cluster-api';

const gardenKinds: readonly SimKind[] = [simKinds.Cluster, simKinds.Machine];

/** What a seed with this source serves: of `kinds`, those that it has, and its own. */
export const servedKinds = (source: WorldSource, kinds: readonly SimKind[]): readonly SimKind[] => {
  if (source === 'gardener') return kinds;
  const others = kinds.filter((kind) => !gardenKinds.includes(kind));
  // The first version of a group is the preferred one.
  return source === 'secret' ? others : [...new Set([...Object.values(capiKinds), ...others])];
};

/** The object of the seed whose annotations steer the simulation of a cluster. */
export interface Steering {
  readonly kind: SimKind;
  /** Of its Cluster, which is also that of its Namespace. */
  readonly name: string;
}

/**
 * Its Cluster, or its Namespace where there are no Clusters. Clusters of Cluster API come and go without their nodes: they have a Cluster of Gardener's for it, which
 * is not served.
 */
export const steeringOf = (source: WorldSource, name: string): Steering => ({
  kind: source === 'secret' ? simKinds.Namespace : simKinds.Cluster,
  name,
});
