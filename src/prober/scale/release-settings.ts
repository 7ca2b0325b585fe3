import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentResource, ProberSettings } from '../config/settings.ts';
import type { HeldResource } from './held.ts';
import { type HeldObject, configuredAs } from './owner.ts';

const lastTimeoutMs = 60_000;

/** Adds held resources that no configuration names, to be restored after all others. */
export const withUnconfigured = (settings: ProberSettings, held: readonly HeldObject[]): ProberSettings => {
  const level = Math.max(0, ...settings.dependentResources.map(({ scaleUp }) => scaleUp.level)) + 1;
  const scaleUp = { level, initialDelayMs: 0, timeoutMs: lastTimeoutMs };
  const others = new Map(
    held.filter((one) => configuredAs(settings, one) === undefined).map((one) => [refKey(one.ref), one]),
  );
  const added = [...others.values()].map(
    ({ ref }): DependentResource => ({ ref, scaleUp, optional: true, restoreOnly: true }),
  );
  return { ...settings, dependentResources: [...settings.dependentResources, ...added] };
};

/** Returns the configured resource that a held one is. */
export const settingsOf = (
  { namespace, ref, state }: HeldResource,
  settings: ProberSettings,
): DependentResource | undefined => configuredAs(settings, { namespace, ref, annotations: state.annotations });

/** Sorts resources in the order of restoration: cluster by cluster, each by its levels, resources that no configuration names last. */
export const inOrder = <T extends HeldResource>(held: readonly T[], settings: ProberSettings): readonly T[] => {
  const keyed = held.map((resource) => ({
    resource,
    level: settingsOf(resource, settings)?.scaleUp.level ?? Number.POSITIVE_INFINITY,
  }));
  const sorted = keyed.toSorted(
    (a, b) =>
      a.resource.cluster.localeCompare(b.resource.cluster, 'en') ||
      (a.level < b.level ? -1 : Number(a.level > b.level)),
  );
  return sorted.map(({ resource }) => resource);
};
