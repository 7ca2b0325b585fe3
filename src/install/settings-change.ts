import { refKey } from '../kubernetes/api/resource-ref.ts';
import { type HeldResource, findOwned, heldName } from '../prober/held/index.ts';
import type { RefTemplate, ProberSettings } from '../prober/index.ts';

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

const refsOf = ({ dependentResources }: ProberSettings): readonly RefTemplate[] =>
  dependentResources.map(({ ref }) => ref);

/** Returns the references to check before the change: their held resources may not be restored after it. */
export const changedRefs = (change: SettingsChange): readonly RefTemplate[] => {
  const { wanted, former } = change;
  const same = new Set(kindOf(wanted) === formerKind(change) ? refsOf(wanted).map(refKey) : []);
  return former.flatMap(refsOf).filter((ref) => !same.has(refKey(ref)));
};

/** True if the new configuration names the resource, and for the same cluster. */
const isNamed = (held: HeldResource, { wanted, former }: SettingsChange): boolean => {
  const now = findOwned({ settings: wanted }, held);
  const [before] = former.flatMap((settings) => findOwned({ settings }, held) ?? []);
  return now !== undefined && (before === undefined || before.cluster === now.cluster);
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
  if (dropped.length === 0) return undefined;
  const message = 'the new configuration does not name these held resources: no prober would restore them';
  return { message, details: [...namesOf(dropped), wayOut] };
};
