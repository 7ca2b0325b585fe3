import { findHeldNote } from '../../annotations/held-note.ts';
import { hasMark, replicasToRestore } from '../../annotations/scaling-annotations.ts';
import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import { formatTime } from '../../kubernetes/api/meta-time.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import { heldByCluster } from './owner.ts';
import type { HostedCluster } from '../clusters/cluster-source.ts';
import type { HeldInShoot, ShootFacts } from '../../status/state/schema.ts';
import type { NamedShoot } from '../../status/state/find-shoot.ts';
import { namesOf } from '../report/cluster-names.ts';
import type { WatchedDependent } from './watch-dependent.ts';

type NotProbed = NonNullable<ShootFacts['notProbed']>;

/** A cluster without a prober. */
export interface UnprobedShoot extends NamedShoot {
  readonly notProbed: NotProbed;
  readonly held: readonly HeldInShoot[];
}

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
  readonly clusters: Pick<Store<HostedCluster>, 'get' | 'entries'>;
  readonly dependents: readonly Pick<WatchedDependent, 'ref' | 'store'>[];
  readonly isProbed: (cluster: string) => boolean;
}

/** Says why a cluster is not probed. */
export const whyNotProbed = (cluster: HostedCluster | undefined): NotProbed => {
  if (cluster === undefined) return { reason: 'its Cluster is gone', givesBack: false };
  const { lifecycle } = cluster;
  if (!lifecycle.ok) {
    return { reason: `its Cluster cannot be decoded: ${lifecycle.error.message}`, givesBack: false };
  }
  if (lifecycle.value.kind === 'run') return { reason: 'its prober is about to start', givesBack: true };
  return { reason: lifecycle.value.reason, givesBack: lifecycle.value.kind === 'stop' };
};

/** Lists the clusters without a prober, with their held resources as far as the watches show them. */
export const listUnprobed = ({ clusters, dependents, isProbed }: UnprobedSources): readonly UnprobedShoot[] => {
  const found = heldByCluster(dependents);
  const names = new Set([...[...clusters.entries()].map(([name]) => name), ...found.keys()]);
  return [...names].flatMap((namespace) => {
    const cluster = clusters.get(namespace);
    const objects = (found.get(namespace) ?? []).filter(hasMark);
    if (isProbed(namespace) || (cluster === undefined && objects.length === 0)) return [];
    const held = objects.map(({ ref, annotations }) => shownHeld({ ...ref, annotations }));
    return [{ ...namesOf(namespace, cluster), notProbed: whyNotProbed(cluster), held }];
  });
};
