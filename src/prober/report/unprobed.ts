import { hasActive } from '../../annotations/scaling-annotations.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import { type NamedShoot, namedShoot } from '../../status/state/find-shoot.ts';
import type { HeldInShoot, ShootFacts } from '../../status/state/schema.ts';
import type { HostedCluster } from '../clusters/cluster-source.ts';
import { heldByCluster, shownHeld } from '../scale/held.ts';
import type { WatchedDependent } from '../scale/watch-dependent.ts';

type NotProbed = NonNullable<ShootFacts['notProbed']>;

/** A cluster without a prober. */
export interface UnprobedShoot extends NamedShoot {
  readonly notProbed: NotProbed;
  readonly held: readonly HeldInShoot[];
}

/** What the watches show of the clusters of the seed. */
export interface KnownClusters {
  readonly clusters: Pick<Store<HostedCluster>, 'get' | 'entries'>;
  readonly dependents: readonly Pick<WatchedDependent, 'ref' | 'store'>[];
}

/** Names a cluster by its Shoot; by its namespace if that is not known. */
export const namesOf = (cluster: string, { clusters }: KnownClusters): NamedShoot =>
  namedShoot(cluster, clusters.get(cluster)?.shootName);

/** Returns the name of the seed, by the first of its Clusters that has it: all of them have the same. */
export const seedNameIn = ({ clusters }: KnownClusters): string | undefined => {
  for (const [, { seedName }] of clusters.entries()) if (seedName !== undefined) return seedName;
  return undefined;
};

/** Says why a cluster is not probed. */
export const whyNotProbed = (name: string, { clusters }: KnownClusters): NotProbed => {
  const cluster = clusters.get(name);
  if (cluster === undefined) return { reason: 'its Cluster is gone', givesBack: false };
  const { lifecycle } = cluster;
  if (!lifecycle.ok) {
    return { reason: `its Cluster cannot be decoded: ${lifecycle.error.message}`, givesBack: false };
  }
  if (lifecycle.value.kind === 'run') return { reason: 'its prober is about to start', givesBack: true };
  return { reason: lifecycle.value.reason, givesBack: lifecycle.value.kind === 'stop' };
};

/** Lists the clusters without a prober, with their held resources as far as the watches show them. */
export const listUnprobed = (
  known: KnownClusters,
  isProbed: (cluster: string) => boolean,
): readonly UnprobedShoot[] => {
  const found = heldByCluster(known.dependents);
  const names = new Set([...Array.from(known.clusters.entries(), ([name]) => name), ...found.keys()]);
  return [...names].flatMap((name) => {
    const held = (found.get(name) ?? [])
      .filter(hasActive)
      .map(({ ref, annotations }) => shownHeld({ ...ref, annotations }));
    if (isProbed(name) || (known.clusters.get(name) === undefined && held.length === 0)) return [];
    return [{ ...namesOf(name, known), notProbed: whyNotProbed(name, known), held }];
  });
};
