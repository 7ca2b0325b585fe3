import { type SimKind, simKinds } from '../apiserver/index.ts';

/**
 * Cluster source of the simulated seed. `gardener`: each cluster has Gardener's Cluster, and a Machine for each node. `secret`: a seed
 * without Gardener, which serves neither kind; a Namespace with a Secret is the only sign of a cluster.
 */
export type WorldSource = 'gardener' | 'secret';

const gardenKinds: readonly SimKind[] = [simKinds.Cluster, simKinds.Machine];

/** Returns the kinds that a seed with this source serves: those of `kinds` that exist there. */
export const servedKinds = (source: WorldSource, kinds: readonly SimKind[]): readonly SimKind[] =>
  source === 'gardener' ? kinds : kinds.filter((kind) => !gardenKinds.includes(kind));

/** The object of the seed whose annotations control the simulation of a cluster. */
export interface ControlObject {
  readonly kind: SimKind;
  /** Name of the Cluster, which is also the name of the Namespace. */
  readonly name: string;
}

/** Returns the cluster's Cluster, or its Namespace if there are no Clusters. */
export const controlObjectOf = (source: WorldSource, name: string): ControlObject => ({
  kind: source === 'secret' ? simKinds.Namespace : simKinds.Cluster,
  name,
});
