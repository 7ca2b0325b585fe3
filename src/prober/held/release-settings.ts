import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { HeldResource } from './held.ts';
import { type Owners, findOwned } from './cluster-owner.ts';
import type { DependentResource, ProberSettings } from '../settings.ts';

const lastTimeoutMs = 60_000;

/** Adds held resources that no configuration names, to be restored after all others. */
export const withUnconfigured = (
  settings: ProberSettings,
  held: readonly Pick<HeldResource, 'namespace' | 'ref'>[],
): ProberSettings => {
  const level = Math.max(0, ...settings.dependentResources.map(({ scaleUp }) => scaleUp.level)) + 1;
  const scaleUp = { level, initialDelayMs: 0, timeoutMs: lastTimeoutMs };
  const others = new Map(
    held.filter((resource) => findOwned({ settings }, resource) === undefined).map((one) => [refKey(one.ref), one]),
  );
  const added = [...others.values()].map(
    ({ ref }): DependentResource => ({ ref, scaleUp, optional: true, restoreOnly: true }),
  );
  return { ...settings, dependentResources: [...settings.dependentResources, ...added] };
};

/** Sorts resources in the order of restoration: cluster by cluster, each by its levels, resources that no configuration names last. */
export const inOrder = <T extends HeldResource>(held: readonly T[], owners: Owners): readonly T[] => {
  const keyed = held.map((resource) => {
    const owned = findOwned(owners, resource);
    const { level } = owned?.resource.scaleUp ?? { level: Number.POSITIVE_INFINITY };
    return { resource, level, cluster: owned?.cluster ?? resource.namespace };
  });
  const sorted = keyed.toSorted(
    (a, b) => a.cluster.localeCompare(b.cluster, 'en') || (a.level < b.level ? -1 : Number(a.level > b.level)),
  );
  return sorted.map(({ resource }) => resource);
};

/** Returns the name of a resource's cluster. A resource that no configuration names is assigned to its namespace. */
export const clusterOfHeld = (owners: Owners, resource: Pick<HeldResource, 'namespace' | 'ref'>): string =>
  findOwned(owners, resource)?.cluster ?? resource.namespace;
