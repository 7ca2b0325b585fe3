import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { type ResourceState, isAtLeast, stateInObject } from '../../kubernetes/api/scalable.ts';
import {
  hasActive,
  hasActiveOrHeld,
  hasOurAnnotations,
  ignoresScaling,
} from '../../annotations/scaling-annotations.ts';
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
  if (overlay === undefined) return real;
  if (overlay.over !== fingerprint(real)) return real;
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
export const takeSnapshot = ({ ref }: DependentResource, context: SnapshotSources): Snapshot => {
  const { cluster, sources, lastResponses, overlays } = context;
  const key = refKey(ref);
  const source = sources.get(key);
  const served = source?.served() ?? { kind: 'unknown' };
  const object = source?.store.get(objectKey(ref, cluster));
  if (served.kind === 'not-served') return served;
  if (served.kind === 'unknown' || source?.store.synced !== true) return { kind: 'unknown' };
  if (object === undefined) return { kind: 'absent' };
  const { resourceVersion } = object.meta;
  const last = lastResponses.get(key);
  const isAhead = last !== undefined && !isAtLeast(resourceVersion, last.resourceVersion);
  const shown = stateInObject(object, ref) ?? (last?.resourceVersion === resourceVersion ? last : undefined);
  const state = isAhead ? last : shown;
  if (state === undefined) return { kind: 'unknown', object: object.meta };
  return { kind: 'state', state: withOverlay(overlays, key, state), isAhead };
};

/** Returns the annotations of a resource, as far as they are known. */
export const annotatedIn = (snapshot: Snapshot): Pick<ResourceState, 'annotations'> | undefined => {
  if (snapshot.kind === 'state') return snapshot.state;
  return snapshot.kind === 'unknown' ? snapshot.object : undefined;
};

/** True if the resource is annotated as held, whoever scaled it down. */
export const isHeldIn = (snapshot: Snapshot): boolean => {
  const annotated = annotatedIn(snapshot);
  return annotated !== undefined && hasActive(annotated);
};

/** True if a resource is up that a scale-down would scale down, as far as the watches and our requests show. Without the count, the annotation tells. */
export const isUp = ({ scaleDown }: DependentResource, snapshot: Snapshot): boolean => {
  const annotated = annotatedIn(snapshot);
  if (scaleDown === undefined || annotated === undefined || ignoresScaling(annotated)) return false;
  if (snapshot.kind === 'state') return snapshot.state.specReplicas > 0;
  return snapshot.kind === 'unknown' && !hasActive(annotated);
};

/**
 * Returns the resources that matter in a shoot. One that is no longer configured matters only if it is held, or, before its watch has synced, another is: the
 * right to it may be missing, and no other shoot may wait for that.
 */
export const resourcesInForce = (
  resources: readonly DependentResource[],
  context: SnapshotSources,
): readonly DependentResource[] => {
  const isAnnotated = (snapshot: Snapshot): boolean => hasActiveOrHeld(annotatedIn(snapshot) ?? { annotations: {} });
  return resources.filter((resource) => {
    if (resource.restoreOnly !== true) return true;
    const snapshot = takeSnapshot(resource, context);
    if (snapshot.kind !== 'unknown' || snapshot.object !== undefined) return isAnnotated(snapshot);
    return resources.some((one) => isAnnotated(takeSnapshot(one, context)));
  });
};

export interface ViewOptions {
  readonly isScaling: boolean;
  /** Only the leader restores, and so reads the counts that no watch shows. */
  readonly leads: boolean;
}

export const viewDependents = (
  resources: readonly DependentResource[],
  { isScaling, leads, ...context }: SnapshotSources & ViewOptions,
): DependentsView => {
  const seen = resourcesInForce(resources, context).map((resource) => takeSnapshot(resource, context));
  return {
    // Of one that does not exist or is not served, a scale-up could change nothing.
    nothingToRestore:
      !isScaling &&
      seen.every((snapshot) => {
        if (snapshot.kind === 'state') return hasNothingToRestore(snapshot.state);
        if (snapshot.kind !== 'unknown') return true;
        return !leads && snapshot.object !== undefined && !hasOurAnnotations(snapshot.object);
      }),
    // Our writes count before the watch shows them; in a dry run the simulated ones do.
    anyHeld: seen.some(isHeldIn),
    mayBeHeld: seen.some(
      (snapshot) => isHeldIn(snapshot) || (snapshot.kind === 'unknown' && snapshot.object === undefined),
    ),
  };
};
