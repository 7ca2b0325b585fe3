import { findHeldNote } from '../../annotations/held-note.ts';
import { hasMark, replicasToRestore } from '../../annotations/scaling-annotations.ts';
import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import { formatTime } from '../../kubernetes/api/meta-time.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import { heldByCluster } from './owner.ts';
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
  readonly clusters: Pick<Store<HostedCluster>, 'get'>;
  readonly dependents: readonly Pick<WatchedDependent, 'ref' | 'store'>[];
  readonly isProbed: (cluster: string) => boolean;
}

const whyUnprobed = (cluster: HostedCluster | undefined): string => {
  if (cluster === undefined) return 'its Cluster is gone';
  const { lifecycle } = cluster;
  if (!lifecycle.ok) return `its Cluster cannot be decoded: ${lifecycle.error.message}`;
  return lifecycle.value.kind === 'run' ? 'its prober is about to start' : lifecycle.value.reason;
};

/** Lists held resources, as far as the watches show them, of clusters without a prober: no prober restores them. */
export const listHeldUnprobed = ({ clusters, dependents, isProbed }: UnprobedSources): readonly HeldUnprobed[] =>
  [...heldByCluster(dependents)].flatMap(([name, objects]) => {
    const held = objects.filter(hasMark).map(({ ref, annotations }) => shownHeld({ ...ref, annotations }));
    if (held.length === 0 || isProbed(name)) return [];
    const cluster = clusters.get(name);
    return [{ namespace: name, name, ...shootNameIn(cluster), reason: whyUnprobed(cluster), held }];
  });
