import { readHeldAnnotation } from '../../annotations/held.ts';
import {
  hasActive,
  hasActiveOrHeld,
  hasStoredReplicas,
  replicasToRestore,
} from '../../annotations/scaling-annotations.ts';
import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import { formatTime } from '../../kubernetes/api/meta-time.ts';
import { type ResourceRef, groupOf, refKey } from '../../kubernetes/api/resource-ref.ts';
import { stateInObject } from '../../kubernetes/api/scalable.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import type { HeldInShoot } from '../../status/state/schema.ts';
import { type RefTemplate, fillTemplate, isTemplate, objectKey } from '../config/ref-template.ts';
import type { DependentResource, ProberSettings } from '../config/settings.ts';
import type { WatchedDependent } from './watch-dependent.ts';

// What is held, for which cluster, and which resource of the configuration is it?

/** A resource that a watch or a list shows as held. */
export interface HeldObject {
  readonly namespace: string;
  readonly ref: ResourceRef;
  readonly annotations: Readonly<Record<string, string>>;
  /** Absent from watches, and from lists of the watch cache, for kinds whose count only the Scale has. */
  readonly specReplicas?: number;
}

type Meta = Pick<ObjectMeta, 'name' | 'namespace' | 'annotations'>;
type Dependents = Pick<ProberSettings, 'dependentResources'>;

/** Returns the cluster for which a resource is held: its annotation `held` names it. The Go program writes none, and holds only what is in the cluster's own namespace. */
export const clusterOfHeld = ({ namespace, annotations }: Pick<HeldObject, 'namespace' | 'annotations'>): string =>
  readHeldAnnotation(annotations)?.cluster ?? namespace;

/**
 * True for a resource that meltdown protection has scaled down: it is annotated so, or, as after an operator's `ignore-scaling`, it is not, but is at 0 and its
 * former count is stored. One that the Go program has restored keeps only the annotation `held`.
 */
export const isHeld = (meta: Pick<Meta, 'annotations'>, specReplicas: number | undefined): boolean =>
  hasActive(meta) || (specReplicas === 0 && hasStoredReplicas(meta));

/** True for a held resource that nobody has scaled up, as far as its count is known. Only such a one is shown as held. */
export const isStillDown = ({ specReplicas = 0 }: Pick<HeldObject, 'specReplicas'>): boolean => specReplicas === 0;

/** Returns a held resource as the status shows it. */
export const shownHeld = ({
  kind,
  name,
  annotations,
}: Pick<ResourceRef, 'kind' | 'name'> & Pick<HeldObject, 'annotations'>): HeldInShoot => {
  const since = readHeldAnnotation(annotations)?.since;
  const { replicas } = replicasToRestore({ annotations });
  return { kind, name, replicas, since: since === undefined ? undefined : formatTime(since) };
};

/** A name that no namespace has, because names of namespaces have no capital letters. */
const anyCluster = 'A';

/** True if a cluster has resources in another namespace than its own. */
export const holdsOutside = ({ dependentResources }: Dependents): boolean =>
  dependentResources.some(({ ref: { namespace = anyCluster } }) => fillTemplate(namespace, anyCluster) !== anyCluster);

/** Returns the reference with its placeholders filled in for a cluster. */
export const fillInRef = (ref: RefTemplate, cluster: string): RefTemplate => ({
  ...ref,
  name: fillTemplate(ref.name, cluster),
  namespace: ref.namespace === undefined ? undefined : fillTemplate(ref.namespace, cluster),
});

interface WithDependents {
  readonly settings: ProberSettings;
  readonly dependents: DependentSources;
}

/** Returns the dependencies of one cluster's prober: the names and the keys of its resources are filled in for that cluster. */
export const forCluster = <D extends WithDependents>(deps: D, cluster: string): D => {
  const { settings, dependents } = deps;
  const { dependentResources } = settings;
  if (!dependentResources.some(({ ref: { name, namespace = '' } }) => isTemplate(name) || isTemplate(namespace))) {
    return deps;
  }
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

/** True if a held object has the name and the namespace that the reference has for its cluster. */
export const isConfigured = (ref: RefTemplate, meta: Meta): boolean => {
  const cluster = clusterOfHeld(meta);
  const { name, namespace = cluster } = fillInRef(ref, cluster);
  return name === meta.name && namespace === meta.namespace;
};

/** Returns the configured resource that a held object is; undefined if the configuration does not name it. The version of the kind does not matter. */
export const configuredAs = (
  { dependentResources }: Dependents,
  { ref, namespace, annotations }: HeldObject,
): DependentResource | undefined =>
  dependentResources.find(
    (resource) =>
      resource.ref.kind === ref.kind &&
      groupOf(resource.ref) === groupOf(ref) &&
      isConfigured(resource.ref, { name: ref.name, namespace, annotations }),
  );

/** Returns the objects that the watches show as held, or with the annotation that the Go program does not remove, by their cluster. */
export const heldByCluster = (
  dependents: Iterable<Pick<WatchedDependent, 'ref' | 'store'>>,
): ReadonlyMap<string, readonly HeldObject[]> => {
  const found = new Map<string, HeldObject[]>();
  for (const { ref, store } of dependents) {
    for (const [, object] of store.entries()) {
      if (!hasActiveOrHeld(object.meta) || !isConfigured(ref, object.meta)) continue;
      const { name, namespace, annotations } = object.meta;
      const cluster = clusterOfHeld(object.meta);
      const specReplicas = stateInObject(object, ref)?.specReplicas;
      const held = { ref: { ...ref, name }, namespace, annotations, specReplicas };
      found.set(cluster, [...(found.get(cluster) ?? []), held]);
    }
  }
  return found;
};

/** True if the watches show that a configured resource is held for a cluster, or has the annotation that the Go program does not remove. */
export const isAnyHeldFor = (
  cluster: string,
  { settings, dependents }: WithDependents,
  isAnnotated = hasActiveOrHeld,
): boolean =>
  settings.dependentResources.some(({ ref }) => {
    const object = dependents.get(refKey(ref))?.store.get(objectKey(fillInRef(ref, cluster), cluster));
    return object !== undefined && isAnnotated(object.meta) && clusterOfHeld(object.meta) === cluster;
  });

/** Calls `listener` with the metadata of every held resource that a watch shows from now on. Returns the function that ends this. */
export const subscribeToHeld = (
  dependents: Iterable<Pick<WatchedDependent, 'store'>>,
  listener: (meta: ObjectMeta) => void,
): (() => void) => {
  const unsubscribe = Array.from(dependents, ({ store }) =>
    store.subscribe(({ type, value: { meta } }) => {
      if (type === 'set' && hasActiveOrHeld(meta)) listener(meta);
    }),
  );
  return () => {
    for (const end of unsubscribe) end();
  };
};

/** Time that the scale-up of a resource may take, in milliseconds, of which no configuration says it. */
const unconfiguredTimeoutMs = 60_000;

/** Adds the resources that the annotations of these held ones name, and the settings do not: an earlier configuration did. They are restored after all others. */
export const withUnconfigured = (
  settings: ProberSettings,
  held: readonly Pick<HeldObject, 'namespace' | 'annotations'>[],
): ProberSettings => {
  const unknown = held.flatMap(({ namespace, annotations }) => {
    if (!hasActiveOrHeld({ annotations })) return [];
    const cluster = clusterOfHeld({ namespace, annotations });
    const isUnknown = (sibling: RefTemplate): boolean => {
      const ref = fillInRef(sibling, cluster);
      return configuredAs(settings, { ref, namespace: ref.namespace ?? cluster, annotations }) === undefined;
    };
    return (readHeldAnnotation(annotations)?.with ?? []).filter(isUnknown);
  });
  const level = Math.max(0, ...settings.dependentResources.map(({ scaleUp }) => scaleUp.level)) + 1;
  const scaleUp = { level, initialDelayMs: 0, timeoutMs: unconfiguredTimeoutMs };
  const added = [...new Map(unknown.map((ref) => [refKey(ref), ref])).values()].map(
    (ref): DependentResource => ({ ref, scaleUp, optional: true, restoreOnly: true }),
  );
  return { ...settings, dependentResources: [...settings.dependentResources, ...added] };
};

interface SearchForDropped {
  readonly settings: ProberSettings;
  /** Identity of this process. All that its own notes name, it knows. */
  readonly identity: string;
  readonly found: (settings: ProberSettings) => void;
}

/** Calls `found` once, with more settings, if a held resource's annotation names resources that `settings` do not. Returns the function that ends this. */
export const watchForDropped = (
  dependents: readonly WatchedDependent[],
  { settings, identity, found }: SearchForDropped,
): (() => void) => {
  let isTold = false;
  const look = (metas: readonly ObjectMeta[]): void => {
    const all = withUnconfigured(settings, metas);
    if (isTold || all.dependentResources.length === settings.dependentResources.length) return;
    isTold = true;
    found(all);
  };
  look(dependents.flatMap(({ store }) => Array.from(store.entries(), ([, { meta }]) => meta)));
  return subscribeToHeld(dependents, (meta) => {
    if (readHeldAnnotation(meta.annotations)?.by !== identity) look([meta]);
  });
};
