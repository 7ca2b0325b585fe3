import { hasStoredReplicas } from '../gardener/scaling-annotations.ts';
import { refKey } from '../kubernetes/api/resource-ref.ts';
import { scalesInOneWrite } from '../kubernetes/api/scalable.ts';
import { type HeldResource, findOwned, heldName } from '../prober/held/index.ts';
import type { DependentResource, PlacedRef, ProberSettings } from '../prober/index.ts';

export interface SettingsChange {
  readonly wanted: ProberSettings;
  /** What is installed, of several versions: first that with which the prober runs. */
  readonly former: readonly ProberSettings[];
}

/** Why a configuration may not be installed now. */
export interface Refusal {
  readonly message: string;
  readonly details: readonly string[];
}

const kindOf = ({ clusterSource }: ProberSettings): string => clusterSource?.kind ?? 'gardener';

/** Former versions may be of another kind: one takes over from another, and Helm keeps them. */
const formerKind = ({ wanted, former: [running = wanted] }: SettingsChange): string => kindOf(running);

const identityOf = ({ ref, annotation }: DependentResource): string => `${refKey(ref)} ${annotation?.key ?? ''}`;

/** What has to be looked at before the change: references of which something may be held that would not be restored. */
export const changedRefs = (change: SettingsChange): readonly PlacedRef[] => {
  const { wanted, former } = change;
  const same = new Set(kindOf(wanted) === formerKind(change) ? wanted.dependentResources.map(identityOf) : []);
  return former
    .flatMap(({ dependentResources }) => dependentResources)
    .filter((resource) => !same.has(identityOf(resource)))
    .map(({ ref }) => ref);
};

/** True if the new configuration has it for the resource of the same cluster. */
const isNamed = (held: HeldResource, { wanted, former }: SettingsChange): boolean => {
  const now = findOwned({ settings: wanted }, held);
  const [before] = former.flatMap((settings) => findOwned({ settings }, held) ?? []);
  return now !== undefined && (before === undefined || before.cluster === now.cluster);
};

/** What is restored as it was held, and what the new rights do not allow; undefined: they do. */
const heldOtherwise = (held: HeldResource, { wanted }: SettingsChange): string | undefined => {
  const { ref, state } = held;
  const { annotation: configured } = findOwned({ settings: wanted }, held)?.resource ?? {};
  const key = state.annotation?.key ?? '';
  if (key !== '') return key === configured?.key ? undefined : `${heldName(held)}: the annotation ${key}`;
  // The count of such a kind is written through its subresource, which is asked for only where it is scaled.
  return configured !== undefined && hasStoredReplicas(state) && !scalesInOneWrite(ref)
    ? `${heldName(held)}: its count`
    : undefined;
};

/** Two versions of a kind show one object. */
const namesOf = (held: readonly HeldResource[]): readonly string[] => [...new Set(held.map(heldName))];

const wayOut = 'keep the former configuration until nothing is held any more, or restore it before: dwd release';

/** Undefined: what is held will be restored by a prober that starts with the new configuration and knows nothing of the former one. */
export const refusalOf = (held: readonly HeldResource[], change: SettingsChange): Refusal | undefined => {
  const { wanted } = change;
  if (held.length === 0) return undefined;
  if (kindOf(wanted) !== formerKind(change)) {
    const kinds = `clusterSource.kind: ${formerKind(change)} -> ${kindOf(wanted)}`;
    const message = `the new configuration finds clusters in another way (${kinds}): what is held may be of one that it does not find`;
    return { message, details: [...namesOf(held), wayOut] };
  }
  const dropped = held.filter((one) => !isNamed(one, change));
  if (dropped.length > 0) {
    const message = 'the new configuration does not name what is held: nobody would restore it';
    return { message, details: [...namesOf(dropped), wayOut] };
  }
  const otherwise = held.flatMap((one) => heldOtherwise(one, change) ?? []);
  if (otherwise.length === 0) return undefined;
  const message =
    'the new configuration changes how resources are held that are held now: it would not allow to restore them';
  return { message, details: [...new Set(otherwise), wayOut] };
};
