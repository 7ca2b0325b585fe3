import { type NamespacedName, type ResourceRef, groupOf, refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import {
  type PlacedRef,
  clusterOf,
  fillIn,
  isTemplate,
  placeOf,
  placeholdersIn,
  withoutPlaceholders,
} from '../place.ts';
import type { DependentResource, ProberSettings } from '../settings.ts';

/** True if several clusters may be in one namespace, each of which goes by `namespace/cluster`. */
export const sharesNamespaces = ({ clusterSource }: Pick<ProberSettings, 'clusterSource'>): boolean =>
  clusterSource?.kind === 'cluster-api';

const hasPlaceholder = ({ name, namespace = '' }: PlacedRef): boolean => isTemplate(name) || isTemplate(namespace);

const namesCluster = ({ name, namespace = '' }: PlacedRef): boolean =>
  [...placeholdersIn(name), ...placeholdersIn(namespace)].includes('cluster');

/** No namespace has this name: theirs have no capital letters. */
const anyCluster = 'A';

/** True if a cluster has resources in another namespace than its own. */
export const holdsOutside = ({ dependentResources }: Pick<ProberSettings, 'dependentResources'>): boolean =>
  dependentResources.some(({ ref: { namespace = anyCluster } }) => fillIn(namespace, anyCluster) !== anyCluster);

const fillInRef = (ref: PlacedRef, cluster: string): PlacedRef => ({
  ...ref,
  name: fillIn(ref.name, cluster),
  ...(ref.namespace === undefined ? {} : { namespace: fillIn(ref.namespace, cluster) }),
});

interface WithDependents {
  readonly settings: ProberSettings;
  readonly dependents: DependentSources;
}

/** What the prober of one cluster works with: the names in its settings, and the keys of its resources, are that cluster's. */
export const ofCluster = <D extends WithDependents>(deps: D, cluster: string): D => {
  const { settings, dependents } = deps;
  const { kubeConfigSecretName, apiServerRef, dependentResources } = settings;
  const isShared = sharesNamespaces(settings);
  if (!isShared && ![apiServerRef, ...dependentResources.map(({ ref }) => ref)].some(hasPlaceholder)) return deps;
  // Where namespaces are shared, what is held under a plain name, by another configuration, goes by its namespace alone.
  const own = dependentResources.filter(({ ref }) => !isShared || namesCluster(ref) === cluster.includes('/'));
  const filled = own.map((resource) => ({ resource, ref: fillInRef(resource.ref, cluster) }));
  const sources = filled.flatMap(({ resource, ref }) => {
    const source = dependents.get(refKey(resource.ref));
    return source === undefined ? [] : [[refKey(ref), source] as const];
  });
  return {
    ...deps,
    settings: {
      ...settings,
      kubeConfigSecretName: fillIn(kubeConfigSecretName, cluster),
      apiServerRef: fillInRef(apiServerRef, cluster),
      dependentResources: filled.map(({ resource, ref }): DependentResource => ({ ...resource, ref })),
    },
    dependents: new Map(sources),
  };
};

/** Name of the cluster whose resource of this reference an object is, if no other reference fits it better (`findOwned`); undefined: of none. */
export const ownerOf = (settings: ProberSettings, ref: PlacedRef, object: NamespacedName): string | undefined =>
  clusterOf(ref, object, sharesNamespaces(settings));

export interface OwnedResource {
  readonly resource: DependentResource;
  readonly cluster: string;
}

export interface Owners {
  readonly settings: ProberSettings;
  /** True of a cluster that is there. Absent: nobody knows which are. */
  readonly isKnown?: ((cluster: string) => boolean) | undefined;
}

const fixedLength = ({ name, namespace = '' }: PlacedRef): number =>
  withoutPlaceholders(name).length + withoutPlaceholders(namespace).length;

/**
 * Which configured resource an object is, and whose. `one-machine-controller-manager` is also what `{{ cluster }}-controller-manager` makes of a cluster
 * `one-machine`: of several that fit, that of a cluster that is there, else the one with the most text of its own. An object is the same in every version of its kind.
 */
export const findOwned = (
  { settings, isKnown = () => false }: Owners,
  { namespace, ref }: { readonly namespace: string; readonly ref: ResourceRef },
): OwnedResource | undefined => {
  const group = groupOf(ref);
  const fitting = settings.dependentResources.flatMap((resource): readonly OwnedResource[] => {
    if (groupOf(resource.ref) !== group || resource.ref.kind !== ref.kind) return [];
    const cluster = ownerOf(settings, resource.ref, { name: ref.name, namespace });
    return cluster === undefined ? [] : [{ resource, cluster }];
  });
  if (fitting.length <= 1) return fitting[0];
  const known = ({ cluster }: OwnedResource): number => Number(isKnown(cluster));
  const [first] = fitting.toSorted(
    (a, b) => known(b) - known(a) || fixedLength(b.resource.ref) - fixedLength(a.resource.ref),
  );
  return first;
};

/** Without the resources whose object, by `findOwned`, is another cluster's. */
export const withoutOthers = (owners: Owners, cluster: string): ProberSettings => {
  const isOwn = ({ ref }: DependentResource): boolean => {
    const filled = fillInRef(ref, cluster);
    const namespace = filled.namespace ?? placeOf(cluster).namespace;
    return (findOwned(owners, { namespace, ref: filled })?.cluster ?? cluster) === cluster;
  };
  return { ...owners.settings, dependentResources: owners.settings.dependentResources.filter(isOwn) };
};
