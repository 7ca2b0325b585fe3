import { decodeShootState } from '../gardener/cluster.ts';
import { childObject, decodeObject } from '../kubernetes/api/decode.ts';
import type { Kube } from '../kubernetes/api/kube.ts';
import { type Informer, type InformerDeps, createInformer } from '../kubernetes/cache/index.ts';

/** True if the Shoot in a Cluster (`extensions.gardener.cloud/v1alpha1`) is hibernated by its spec. */
export const decodeHibernation = (json: unknown, path: string): boolean => {
  const spec = childObject(decodeObject(json, path), path, 'spec');
  const shoot = childObject(spec, `${path}.spec`, 'shoot');
  return decodeShootState(shoot, `${path}.spec.shoot`).hibernationEnabled;
};

/** A watch of the seed's Clusters: of each, if its shoot is hibernated. */
export type ClusterWatch = Informer<boolean>;

export const createClusterWatch = (options: InformerDeps & { readonly kube: Kube }): ClusterWatch =>
  createInformer({
    ...options,
    path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
    project: decodeHibernation,
  });
