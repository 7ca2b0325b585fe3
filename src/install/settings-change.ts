import { hasStoredReplicas } from '../gardener/scaling-annotations.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import { isPatchableWorkload } from '../kubernetes/api/scalable.ts';
import { type HeldResource, findOwned, heldName } from '../prober/held/index.ts';
import type { DependentResource, RefTemplate, ProberSettings } from '../prober/index.ts';

export interface SettingsChange {
  readonly wanted: ProberSettings;
  /** Installed configurations, maybe of several versions. The one that the prober runs with is the first. */
  readonly former: readonly ProberSettings[];
}

/** Reason why a configuration may not be installed now. */
export interface Refusal {
  readonly message: string;
  readonly details: readonly string[];
}

const kindOf = ({ clusterSource }: ProberSettings): string => (clusterSource === undefined ? 'gardener' : 'secret');

/** Returns the kind of the running version. Other former versions may have another one: one takes over from another, and Helm keeps them. */
const formerKind = ({ wanted, former: [running = wanted] }: SettingsChange): string => kindOf(running);

const identityOf = ({ ref, annotation }: DependentResource): string => `${refKey(ref)} ${annotation?.key ?? ''}`;

/** Returns the references to check before the change: their held resources may not be restored after it. */
export const changedRefs = (change: SettingsChange): readonly RefTemplate[] => {
  const { wanted, former } = change;
  const same = new Set(kindOf(wanted) === formerKind(change) ? wanted.dependentResources.map(identityOf) : []);
  return former
    .flatMap(({ dependentResources }) => dependentResources)
    .filter((resource) => !same.has(identityOf(resource)))
    .map(({ ref }) => ref);
};

/** True if the new configuration names the resource, and for the same cluster. */
const isNamed = (held: HeldResource, { wanted, former }: SettingsChange): boolean => {
  const now = findOwned({ settings: wanted }, held);
  const [before] = former.flatMap((settings) => findOwned({ settings }, held) ?? []);
  return now !== undefined && (before === undefined || before.cluster === now.cluster);
};

/** Describes the part of a held resource that the new rights do not allow to restore. Undefined if there is none. */
const heldOtherwise = (held: HeldResource, { wanted }: SettingsChange): string | undefined => {
  const { ref, state } = held;
  const { annotation: configured } = findOwned({ settings: wanted }, held)?.resource ?? {};
  const key = state.annotation?.key ?? '';
  if (key !== '') return key === configured?.key ? undefined : `${heldName(held)}: the annotation ${key}`;
  // The count of such a kind is written through its scale subresource, and the new configuration has that right only for kinds that it scales.
  return configured !== undefined && hasStoredReplicas(state) && !isPatchableWorkload(ref)
    ? `${heldName(held)}: its count`
    : undefined;
};

/** Returns distinct names: two versions of a kind list the same object. */
const namesOf = (held: readonly HeldResource[]): readonly string[] => [...new Set(held.map(heldName))];

const wayOut = 'keep the former configuration until these resources are restored, or restore them now: dwd release';

/** Returns why a change is refused. Undefined if a prober that starts with the new configuration alone restores all held resources. */
export const refusalOf = (held: readonly HeldResource[], change: SettingsChange): Refusal | undefined => {
  const { wanted } = change;
  if (held.length === 0) return undefined;
  if (kindOf(wanted) !== formerKind(change)) {
    const kinds = `clusterSource.kind: ${formerKind(change)} -> ${kindOf(wanted)}`;
    const message = `the new configuration finds clusters in another way (${kinds}): it may not find the clusters of these held resources`;
    return { message, details: [...namesOf(held), wayOut] };
  }
  const dropped = held.filter((one) => !isNamed(one, change));
  if (dropped.length > 0) {
    const message = 'the new configuration does not name these held resources: no prober would restore them';
    return { message, details: [...namesOf(dropped), wayOut] };
  }
  const otherwise = held.flatMap((one) => heldOtherwise(one, change) ?? []);
  if (otherwise.length === 0) return undefined;
  const message =
    'the new configuration changes how these resources are held: with its rights, no prober could restore them';
  return { message, details: [...new Set(otherwise), wayOut] };
};
