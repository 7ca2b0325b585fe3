import type { Store } from '../../kubernetes/cache/index.ts';
import { type NamedShoot, namedShoot } from '../../status/state/find-shoot.ts';
import type { HostedCluster } from '../clusters/cluster-source.ts';

/** Names a cluster by its Shoot; by its namespace if that is not known. */
export const namesOf = (namespace: string, cluster: Pick<HostedCluster, 'shootName'> | undefined): NamedShoot =>
  namedShoot(namespace, cluster?.shootName);

/** Returns the name of the seed, by the first of its Clusters that has it: all of them have the same. */
export const seedNameIn = (clusters: Pick<Store<HostedCluster>, 'entries'>): string | undefined => {
  for (const [, { seedName }] of clusters.entries()) if (seedName !== undefined) return seedName;
  return undefined;
};
