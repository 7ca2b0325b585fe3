import { type ResourceRef, groupOf, refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import { type RefTemplate, fillTemplate, isTemplate, ownerOf, withoutPlaceholders } from '../ref-template.ts';
import type { DependentResource, ProberSettings } from '../settings.ts';

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

export interface OwnedResource {
  readonly resource: DependentResource;
  readonly cluster: string;
}

export interface Owners {
  readonly settings: ProberSettings;
  /** True if the cluster exists. Absent if the caller cannot know. */
  readonly isKnown?: ((cluster: string) => boolean) | undefined;
}

const fixedLength = ({ name, namespace = '' }: RefTemplate): number =>
  withoutPlaceholders(name).length + withoutPlaceholders(namespace).length;

/**
 * Finds the configured resource that an object is, and its cluster. In a namespace that is not the cluster's own, `one-machine-controller-manager` also
 * matches `{{ cluster }}-controller-manager` with a cluster `one-machine`: if several match, one of an existing cluster wins, then the one with the most fixed
 * text. The version of the kind does not matter.
 */
export const findOwned = (
  { settings, isKnown = () => false }: Owners,
  { namespace, ref }: { readonly namespace: string; readonly ref: ResourceRef },
): OwnedResource | undefined => {
  const group = groupOf(ref);
  const fitting = settings.dependentResources.flatMap((resource): readonly OwnedResource[] => {
    if (groupOf(resource.ref) !== group || resource.ref.kind !== ref.kind) return [];
    const cluster = ownerOf(resource.ref, { name: ref.name, namespace });
    return cluster === undefined ? [] : [{ resource, cluster }];
  });
  if (fitting.length <= 1) return fitting[0];
  const known = ({ cluster }: OwnedResource): number => Number(isKnown(cluster));
  const [first] = fitting.toSorted(
    (a, b) => known(b) - known(a) || fixedLength(b.resource.ref) - fixedLength(a.resource.ref),
  );
  return first;
};

/** Returns the settings without the resources whose object, by `findOwned`, belongs to another cluster. */
export const withoutOtherClusters = (owners: Owners, cluster: string): ProberSettings => {
  const isOwn = ({ ref }: DependentResource): boolean => {
    const filled = fillInRef(ref, cluster);
    return (findOwned(owners, { namespace: filled.namespace ?? cluster, ref: filled })?.cluster ?? cluster) === cluster;
  };
  return { ...owners.settings, dependentResources: owners.settings.dependentResources.filter(isOwn) };
};
