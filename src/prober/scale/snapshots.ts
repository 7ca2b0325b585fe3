import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type ResourceState, isAtLeast, stateInObject } from '../../kubernetes/api/scalable.ts';
import { hasMark, hasMarkOrNote } from '../../annotations/scaling-annotations.ts';
import type { DependentSources } from '../../kubernetes/cache/index.ts';
import { hasNothingToRestore } from './patch-plan.ts';
import type { Snapshot } from './operation.ts';
import type { DependentResource } from '../config/settings.ts';
import type { DependentsView } from '../judge/judgement.ts';
import { objectKey } from '../config/ref-template.ts';

/** State after a simulated write of a dry run. It replaces the real state while that still has the fingerprint `over`. */
interface DryRunOverlay {
  readonly state: ResourceState;
  readonly over: string;
}

/** Overlays by `refKey`; empty except in a dry run. */
export type DryRunOverlays = Map<string, DryRunOverlay>;

const fingerprint = ({ specReplicas, annotations }: ResourceState): string =>
  JSON.stringify([specReplicas, Object.entries(annotations).sort()]);

const withOverlay = (overlays: DryRunOverlays, key: string, real: ResourceState): ResourceState => {
  const overlay = overlays.get(key);
  if (overlay?.over !== fingerprint(real)) return real;
  return { ...overlay.state, resourceVersion: real.resourceVersion };
};

/** Enters a simulated write. `base` is the state that it changes: the real one, or the result of the previous simulated write. */
export const overlayWrite = (
  overlays: DryRunOverlays,
  key: string,
  write: { base: ResourceState; state: ResourceState },
): void => {
  const before = overlays.get(key);
  const isSecond = before !== undefined && fingerprint(before.state) === fingerprint(write.base);
  overlays.set(key, { state: write.state, over: isSecond ? before.over : fingerprint(write.base) });
};

export interface SnapshotSources {
  readonly cluster: string;
  readonly sources: DependentSources;
  /**
   * Latest state that the API server has returned, by `refKey`. Only the Scale of a custom resource has its count, and no watch
   * shows it; and while a watch lags, a resource that we scaled down would appear to be up.
   */
  readonly lastResponses: ReadonlyMap<string, ResourceState>;
  readonly overlays: DryRunOverlays;
}

/** Returns the known state of a dependent resource, without a request. */
export const takeSnapshot = (resource: DependentResource, context: SnapshotSources): Snapshot => {
  const { cluster, sources, lastResponses, overlays } = context;
  const key = refKey(resource.ref);
  const source = sources.get(key);
  const served = source?.served() ?? { kind: 'unknown' };
  if (served.kind === 'not-served') return served;
  if (source === undefined || served.kind === 'unknown' || !source.store.synced) return { kind: 'unknown' };
  const object = source.store.get(objectKey(resource.ref, cluster));
  if (object === undefined) return { kind: 'absent' };
  const { resourceVersion } = object.meta;
  const state = lastResponses.get(key);
  const inObject = stateInObject(object, resource.ref);
  if (inObject !== undefined) {
    const isAhead = state !== undefined && !isAtLeast(resourceVersion, state.resourceVersion);
    return { kind: 'state', state: withOverlay(overlays, key, isAhead ? state : inObject), isAhead };
  }
  if (state?.resourceVersion !== resourceVersion) return { kind: 'unknown', object: object.meta };
  return { kind: 'state', state: withOverlay(overlays, key, state) };
};

/** Returns the keys of required resources that do not exist according to the watches. */
export const findMissing = (resources: readonly DependentResource[], context: SnapshotSources): readonly string[] =>
  resources
    .filter((resource) => !resource.optional && resource.restoreOnly !== true)
    .filter((resource) => takeSnapshot(resource, context).kind === 'absent')
    .map(({ ref }) => refKey(ref));

export const viewDependents = (
  resources: readonly DependentResource[],
  context: SnapshotSources & { readonly isScaling: boolean },
): DependentsView => {
  const { cluster, sources, isScaling } = context;
  const isFine = (resource: DependentResource): boolean => {
    const snapshot = takeSnapshot(resource, context);
    switch (snapshot.kind) {
      case 'state':
        return hasNothingToRestore(snapshot.state) || (resource.restoreOnly === true && !hasMarkOrNote(snapshot.state));
      // A scale-up could change nothing.
      case 'absent':
      case 'not-served':
        return true;
      case 'unknown':
        return false;
    }
  };
  // Our writes count before the watch shows them; in a dry run the simulated ones do.
  const isHeldNow = (resource: DependentResource): boolean | undefined => {
    const snapshot = takeSnapshot(resource, context);
    if (snapshot.kind === 'state') return hasMark(snapshot.state);
    const object = sources.get(refKey(resource.ref))?.store.get(objectKey(resource.ref, cluster));
    if (object !== undefined) return hasMark(object.meta);
    return snapshot.kind === 'unknown' ? undefined : false;
  };
  const held = resources.map(isHeldNow);
  return {
    nothingToRestore: !isScaling && resources.every(isFine),
    anyHeld: held.includes(true),
    mayBeHeld: held.some((one) => one !== false),
  };
};
