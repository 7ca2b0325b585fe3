import { findHeldNote } from '../../annotations/held-note.ts';
import { hasMark, replicasToRestore } from '../../annotations/scaling-annotations.ts';
import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import { formatTime } from '../../kubernetes/api/meta-time.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import { findOwned } from './cluster-owner.ts';
import type { ProberSettings } from '../settings.ts';
import type { HostedCluster } from '../source/cluster-source.ts';
import { shootNameIn } from '../status/prober-status.ts';
import type { HeldInShoot, HeldUnprobed } from '../status/schema.ts';
import type { WatchedDependent } from '../watches/watch-dependent.ts';

type Marked = Pick<ObjectMeta, 'annotations'>;

/** Returns a held resource as the status shows it. */
export const shownHeld = ({ kind, name, annotations }: Marked & Pick<ResourceRef, 'kind' | 'name'>): HeldInShoot => {
  const since = findHeldNote(annotations)?.since;
  return {
    kind,
    name,
    replicas: replicasToRestore({ annotations }).replicas,
    ...(since === undefined ? {} : { since: formatTime(since) }),
  };
};

interface UnprobedSources {
  readonly settings: ProberSettings;
  readonly clusters: Pick<Store<HostedCluster>, 'get'>;
  readonly dependents: readonly Pick<WatchedDependent, 'key' | 'store'>[];
  readonly isProbed: (cluster: string) => boolean;
}

const whyUnprobed = (cluster: HostedCluster | undefined): string => {
  if (cluster === undefined) return 'its Cluster is gone';
  const { lifecycle } = cluster;
  if (!lifecycle.ok) return `its Cluster cannot be decoded: ${lifecycle.error.message}`;
  return lifecycle.value.kind === 'run' ? 'its prober is about to start' : lifecycle.value.reason;
};

/** Lists held resources, as far as the watches show them, of clusters without a prober: no prober restores them. */
export const listHeldUnprobed = (sources: UnprobedSources): readonly HeldUnprobed[] => {
  const { settings, clusters, dependents, isProbed } = sources;
  const stores = new Map(dependents.map(({ key, store }) => [key, store]));
  const owners = { settings, isKnown: (name: string): boolean => clusters.get(name) !== undefined || isProbed(name) };
  const byCluster = new Map<string, HeldInShoot[]>();
  for (const resource of settings.dependentResources) {
    for (const [, { meta }] of stores.get(refKey(resource.ref))?.entries() ?? []) {
      if (!hasMark(meta)) continue;
      const owned = findOwned(owners, { namespace: meta.namespace, ref: { ...resource.ref, name: meta.name } });
      if (owned?.resource !== resource || isProbed(owned.cluster)) continue;
      byCluster.set(owned.cluster, [
        ...(byCluster.get(owned.cluster) ?? []),
        shownHeld({ ...meta, kind: resource.ref.kind }),
      ]);
    }
  }
  return [...byCluster].map(([name, held]) => {
    const cluster = clusters.get(name);
    return { namespace: name, name, ...shootNameIn(cluster), reason: whyUnprobed(cluster), held };
  });
};
