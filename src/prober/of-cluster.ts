import { type ResourceRef, refKey } from '../kubernetes/api/resource-ref.ts';
import type { DependentSources } from '../kubernetes/cache/index.ts';
import { type PlacedRef, clusterOf, fillIn, isTemplate, placeholdersIn } from './place.ts';
import type { DependentResource, ProberSettings } from './settings.ts';

/** True if several clusters may be in one namespace, each of which goes by `namespace/cluster`. */
const sharesNamespaces = ({ clusterSource }: Pick<ProberSettings, 'clusterSource'>): boolean =>
  clusterSource?.kind === 'cluster-api';

const hasWords = ({ name, namespace = '' }: PlacedRef): boolean => isTemplate(name) || isTemplate(namespace);

const namesCluster = ({ name, namespace = '' }: PlacedRef): boolean =>
  [...placeholdersIn(name), ...placeholdersIn(namespace)].includes('cluster');

/** No namespace is called so. */
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
  if (!isShared && ![apiServerRef, ...dependentResources.map(({ ref }) => ref)].some(hasWords)) return deps;
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

interface Named {
  readonly name: string;
  readonly namespace: string;
}

/** Name of the cluster whose resource of this reference an object is; undefined: of none. */
export const ownerOf = (settings: ProberSettings, ref: PlacedRef, object: Named): string | undefined =>
  clusterOf(ref, object, sharesNamespaces(settings));

export interface Owned {
  readonly resource: DependentResource;
  readonly cluster: string;
}

/** Which configured resource an object is, and whose. */
export const findOwned = (
  settings: ProberSettings,
  { namespace, ref }: { readonly namespace: string; readonly ref: ResourceRef },
): Owned | undefined => {
  for (const resource of settings.dependentResources) {
    const { apiVersion, kind } = resource.ref;
    if (apiVersion !== ref.apiVersion || kind !== ref.kind) continue;
    const cluster = ownerOf(settings, resource.ref, { name: ref.name, namespace });
    if (cluster !== undefined) return { resource, cluster };
  }
  return undefined;
};
