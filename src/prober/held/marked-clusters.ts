import { hasMarkOrNote } from '../../annotations/scaling-annotations.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import { objectKey } from '../ref-template.ts';
import type { ProberSettings } from '../settings.ts';
import type { ProberSources } from '../watches/sources.ts';
import { type Owners, findOwned, forCluster, withoutOtherClusters } from './cluster-owner.ts';

/** Returns the names of the clusters that have marked resources. `known`: names of the clusters that exist. */
export const markedClusters = (
  settings: ProberSettings,
  { dependents, known }: Pick<ProberSources, 'dependents'> & { readonly known: ReadonlySet<string> },
): ReadonlySet<string> => {
  const owners = { settings, isKnown: (name: string): boolean => known.has(name) };
  const found = dependents.flatMap(({ ref, store }) =>
    Array.from(store.entries(), ([, { meta }]) =>
      hasMarkOrNote(meta)
        ? findOwned(owners, { namespace: meta.namespace, ref: { ...ref, name: meta.name } })?.cluster
        : undefined,
    ),
  );
  return new Set(found.filter((owner) => owner !== undefined));
};

/** True if a resource of this cluster is marked, and not one that has a name of this cluster but belongs to another. */
export const isMarkedCluster = (cluster: string, owners: Owners, dependents: DependentSources): boolean => {
  const own = forCluster({ settings: withoutOtherClusters(owners, cluster), dependents }, cluster);
  return own.settings.dependentResources.some(({ ref }) => {
    const object = own.dependents.get(refKey(ref))?.store.get(objectKey(ref, cluster));
    return object !== undefined && hasMarkOrNote(object.meta);
  });
};

/** Calls `listener` with the cluster of every marked resource that a watch shows from now on. Returns the function that ends this. */
export const subscribeToMarks = (
  owners: Owners,
  dependents: DependentSources,
  listener: (cluster: string) => void,
): (() => void) => {
  const unsubscribe = owners.settings.dependentResources.map(({ ref }) =>
    dependents.get(refKey(ref))?.store.subscribe(({ type, value: { meta } }) => {
      if (type !== 'set' || !hasMarkOrNote(meta)) return;
      const owned = findOwned(owners, { namespace: meta.namespace, ref: { ...ref, name: meta.name } });
      if (owned !== undefined) listener(owned.cluster);
    }),
  );
  return () => {
    for (const end of unsubscribe) end?.();
  };
};
