import { findHeldNote } from '../../annotations/held-note.ts';
import { hasMarkOrNote } from '../../annotations/scaling-annotations.ts';
import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
import type { ProberSettings } from '../config/settings.ts';
import type { WatchedDependent } from './watch-dependent.ts';
import { type HeldObject, clusterOfHeld } from './owner.ts';
import { withUnconfigured } from './release-settings.ts';

/** Returns the resources that the note of a held resource names; none without a note. */
export const siblingsIn = ({ namespace, annotations }: Pick<ObjectMeta, 'namespace' | 'annotations'>) =>
  hasMarkOrNote({ annotations })
    ? (findHeldNote(annotations)?.with ?? []).map(
        (ref): HeldObject => ({ namespace: clusterOfHeld({ namespace, annotations }), ref, annotations }),
      )
    : [];

/**
 * Watches the notes of held resources. Calls `found` once, with the settings and the resources that a note names and the settings do not: an earlier
 * configuration named them, and a process that starts with this one has to restore them. Returns the function that ends this.
 */
export const watchForDropped = (
  settings: ProberSettings,
  dependents: readonly WatchedDependent[],
  found: (settings: ProberSettings) => void,
): (() => void) => {
  let isTold = false;
  const look = (metas: readonly ObjectMeta[]): void => {
    const all = withUnconfigured(settings, metas.flatMap(siblingsIn));
    if (isTold || all.dependentResources.length === settings.dependentResources.length) return;
    isTold = true;
    found(all);
  };
  look(dependents.flatMap(({ store }) => Array.from(store.entries(), ([, { meta }]) => meta)));
  const unsubscribe = dependents.map(({ store }) =>
    store.subscribe(({ type, value }) => {
      if (type === 'set') look([value.meta]);
    }),
  );
  return () => {
    for (const end of unsubscribe) end();
  };
};
