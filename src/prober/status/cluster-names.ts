import type { Store } from '../../kubernetes/cache/index.ts';
import type { HostedCluster } from '../source/cluster-source.ts';

/** Name of a shoot and its project, if its Cluster has them. */
export interface ShootName {
  readonly project?: string;
  readonly name: string;
}

/** Prefix of a project's namespace in the garden, unless the project specifies its namespace (`Project.spec.namespace` of core.gardener.cloud/v1beta1). */
const projectPrefix = 'garden-';

/** Returns the name and the project of the shoot from its Cluster. */
export const shootNameIn = (cluster: Pick<HostedCluster, 'shootName'> | undefined): ShootName | undefined => {
  if (cluster?.shootName === undefined) return undefined;
  const { namespace, name } = cluster.shootName;
  const project = namespace.startsWith(projectPrefix) ? namespace.slice(projectPrefix.length) : namespace;
  return { project, name };
};

/** Returns the name of the seed, by the first of its Clusters that has it: all of them have the same. */
export const seedNameIn = (clusters: Pick<Store<HostedCluster>, 'entries'>): string | undefined => {
  for (const [, { seedName }] of clusters.entries()) if (seedName !== undefined) return seedName;
  return undefined;
};
