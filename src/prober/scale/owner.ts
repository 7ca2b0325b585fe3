import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import { type ResourceRef, groupOf, refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import { findHeldNote } from '../../annotations/held-note.ts';
import { hasMarkOrNote } from '../../annotations/scaling-annotations.ts';
import { type RefTemplate, fillTemplate, isTemplate, objectKey } from '../config/ref-template.ts';
import type { DependentResource, ProberSettings } from '../config/settings.ts';
import type { WatchedDependent } from './watch-dependent.ts';

const hasPlaceholder = ({ name, namespace = '' }: RefTemplate): boolean => isTemplate(name) || isTemplate(namespace);

/** A name that no namespace has, because names of namespaces have no capital letters. */
const anyCluster = 'A';

/** True if a cluster has resources in another namespace than its own. */
export const holdsOutside = ({ dependentResources }: Pick<ProberSettings, 'dependentResources'>): boolean =>
  dependentResources.some(({ ref: { namespace = anyCluster } }) => fillTemplate(namespace, anyCluster) !== anyCluster);

const fillInRef = (ref: RefTemplate, cluster: string): RefTemplate => ({
  ...ref,
  name: fillTemplate(ref.name, cluster),
  ...(ref.namespace === undefined ? {} : { namespace: fillTemplate(ref.namespace, cluster) }),
});

interface WithDependents {
  readonly settings: ProberSettings;
  readonly dependents: DependentSources;
}

/** Returns the dependencies of one cluster's prober: the names and the keys of its resources are filled in for that cluster. */
export const forCluster = <D extends WithDependents>(deps: D, cluster: string): D => {
  const { settings, dependents } = deps;
  const { dependentResources } = settings;
  if (!dependentResources.some(({ ref }) => hasPlaceholder(ref))) return deps;
  const filled = dependentResources.map((resource) => ({ resource, ref: fillInRef(resource.ref, cluster) }));
  const sources = filled.flatMap(({ resource, ref }) => {
    const source = dependents.get(refKey(resource.ref));
    return source === undefined ? [] : [[refKey(ref), source] as const];
  });
  return {
    ...deps,
    settings: {
      ...settings,
      dependentResources: filled.map(({ resource, ref }): DependentResource => ({ ...resource, ref })),
    },
    dependents: new Map(sources),
  };
};

/** A resource that a watch or a list shows as held. */
export interface HeldObject {
  readonly namespace: string;
  readonly ref: ResourceRef;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Returns the cluster for which a resource is held: the note names it. The Go program leaves no note, and holds only what is in the cluster's own namespace. */
export const clusterOfHeld = ({ namespace, annotations }: Pick<HeldObject, 'namespace' | 'annotations'>): string =>
  findHeldNote(annotations)?.cluster ?? namespace;

type Meta = Pick<ObjectMeta, 'name' | 'namespace' | 'annotations'>;

/** True if a held object has the name and the namespace that the reference has for its cluster. */
export const isConfigured = (ref: RefTemplate, meta: Meta): boolean => {
  const cluster = clusterOfHeld(meta);
  const { name, namespace = cluster } = fillInRef(ref, cluster);
  return name === meta.name && namespace === meta.namespace;
};

/** Returns the configured resource that a held object is; undefined if the configuration does not name it. The version of the kind does not matter. */
export const configuredAs = (
  { dependentResources }: Pick<ProberSettings, 'dependentResources'>,
  { ref, namespace, annotations }: HeldObject,
): DependentResource | undefined =>
  dependentResources.find(
    (resource) =>
      resource.ref.kind === ref.kind &&
      groupOf(resource.ref) === groupOf(ref) &&
      isConfigured(resource.ref, { name: ref.name, namespace, annotations }),
  );

/** Returns the objects that the watches show as held, or with the note that the Go program leaves behind, by their cluster. */
export const heldByCluster = (
  dependents: Iterable<Pick<WatchedDependent, 'ref' | 'store'>>,
): ReadonlyMap<string, readonly HeldObject[]> => {
  const found = new Map<string, HeldObject[]>();
  for (const { ref, store } of dependents) {
    for (const [, { meta }] of store.entries()) {
      if (!hasMarkOrNote(meta) || !isConfigured(ref, meta)) continue;
      const { name, namespace, annotations } = meta;
      const cluster = clusterOfHeld(meta);
      found.set(cluster, [...(found.get(cluster) ?? []), { namespace, annotations, ref: { ...ref, name } }]);
    }
  }
  return found;
};

/** Returns the configured resources that are held for a cluster. */
export const heldFor = (cluster: string, { settings, dependents }: WithDependents): readonly DependentResource[] =>
  settings.dependentResources.filter(({ ref }) => {
    const object = dependents.get(refKey(ref))?.store.get(objectKey(fillInRef(ref, cluster), cluster));
    return object !== undefined && hasMarkOrNote(object.meta) && clusterOfHeld(object.meta) === cluster;
  });

/** Calls `listener` with the cluster of every held resource that a watch shows from now on. Returns the function that ends this. */
export const subscribeToHeld = (dependents: DependentSources, listener: (cluster: string) => void): (() => void) => {
  const unsubscribe = Array.from(dependents.values(), ({ store }) =>
    store.subscribe(({ type, value: { meta } }) => {
      if (type === 'set' && hasMarkOrNote(meta)) listener(clusterOfHeld(meta));
    }),
  );
  return () => {
    for (const end of unsubscribe) end();
  };
};
