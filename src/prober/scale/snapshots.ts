import { type ResourceState, isAtLeast, stateInObject } from '../../kubernetes/api/scalable.ts';
import { readHeldAnnotation } from '../../annotations/held.ts';
import {
  hasActive,
  hasActiveOrHeld,
  hasOurAnnotations,
  ignoresScaling,
} from '../../annotations/scaling-annotations.ts';
import type { DependentSource } from '../../kubernetes/cache/index.ts';
import { isHeld } from './held.ts';
import { hasNothingToRestore } from './patch-plan.ts';
import type { Snapshot } from './operation.ts';
import type { DependentResource } from '../config/settings.ts';
import type { DependentsView } from '../judge/judgement.ts';
import { objectKey } from '../config/ref-template.ts';

/**
 * What the latest request has shown of a resource. Only the Scale of a custom resource has its count, and no watch shows it; and while a watch lags, a resource
 * that we scaled down would appear to be up.
 */
export interface LastResponse {
  readonly state: ResourceState;
  /** After a simulated write of a dry run: the real state, which `state` replaces until it changes. */
  readonly over?: ResourceState;
}

const isSame = (a: ResourceState | undefined, b: ResourceState): boolean =>
  a !== undefined && fingerprint(a) === fingerprint(b);

const fingerprint = ({ specReplicas, annotations }: ResourceState): string =>
  JSON.stringify([specReplicas, Object.entries(annotations).sort()]);

/** Enters a response. `base`: what a simulated write has changed, which is the real state or the result of another simulated write. */
export const responseAfter = (
  before: LastResponse | undefined,
  state: ResourceState,
  base?: ResourceState,
): LastResponse => {
  if (base !== undefined) return { state, over: isSame(before?.state, base) ? (before?.over ?? base) : base };
  return before !== undefined && isSame(before.over, state) ? { state: before.state, over: state } : { state };
};

export interface SnapshotSources {
  readonly cluster: string;
  readonly source: DependentSource | undefined;
  readonly last: LastResponse | undefined;
}

/** Returns the known state of a dependent resource, without a request. */
export const takeSnapshot = ({ ref }: DependentResource, { cluster, source, last }: SnapshotSources): Snapshot => {
  const served = source?.served() ?? { kind: 'unknown' };
  const object = source?.store.get(objectKey(ref, cluster));
  if (served.kind === 'not-served') return served;
  if (served.kind === 'unknown' || source?.store.synced !== true) return { kind: 'unknown' };
  if (object === undefined) return { kind: 'absent' };
  const { resourceVersion } = object.meta;
  const read = last?.over ?? last?.state;
  const isAhead = read !== undefined && !isAtLeast(resourceVersion, read.resourceVersion);
  const shown = stateInObject(object, ref) ?? (read?.resourceVersion === resourceVersion ? read : undefined);
  const real = isAhead ? read : shown;
  if (real === undefined) return { kind: 'unknown', object: object.meta };
  if (last === undefined || !isSame(last.over, real)) return { kind: 'state', state: real, isAhead };
  return { kind: 'state', state: { ...last.state, resourceVersion: real.resourceVersion }, isAhead };
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

/** True if a scale-up would restore it: it is held, annotated so or, as after an operator's `ignore-scaling`, not any more. */
const awaitsRestoration = (snapshot: Snapshot): boolean =>
  snapshot.kind === 'state' && !ignoresScaling(snapshot.state)
    ? isHeld(snapshot.state, snapshot.state.specReplicas)
    : isHeldIn(snapshot);

/** True if a resource is up that a scale-down would scale down, as far as the watches and our requests show. Without the count, the annotation tells. */
export const isUp = ({ scaleDown }: DependentResource, snapshot: Snapshot): boolean => {
  const annotated = annotatedIn(snapshot);
  if (scaleDown === undefined || annotated === undefined || ignoresScaling(annotated)) return false;
  if (snapshot.kind === 'state') return snapshot.state.specReplicas > 0;
  return snapshot.kind === 'unknown' && !hasActive(annotated);
};

/**
 * True if a resource is held at 0, but after its timeout its pods still run. That its controller has not observed it tells nothing by itself: any change of
 * an annotation makes a version to be observed.
 */
export const isStillRunning = ({ scaleDown }: DependentResource, snapshot: Snapshot, wallNow: number): boolean => {
  if (scaleDown === undefined || snapshot.kind !== 'state') return false;
  const { state } = snapshot;
  if (!hasActive(state) || state.specReplicas > 0 || state.readyReplicas === 0) return false;
  const { since = wallNow } = readHeldAnnotation(state.annotations) ?? {};
  return wallNow > since + scaleDown.timeoutMs;
};

/** A dependent resource, and what is known of it. */
export interface SeenDependent {
  readonly resource: DependentResource;
  readonly snapshot: Snapshot;
}

/**
 * Returns the resources that matter in a shoot. One that is no longer configured matters only if it is held, or, before its watch has synced, another is: the
 * right to it may be missing, and no other shoot may wait for that.
 */
export const inForce = (all: readonly SeenDependent[]): readonly SeenDependent[] => {
  const isAnnotated = ({ snapshot }: SeenDependent): boolean =>
    hasActiveOrHeld(annotatedIn(snapshot) ?? { annotations: {} });
  return all.filter((one) => {
    const { resource, snapshot } = one;
    if (resource.restoreOnly !== true) return true;
    return snapshot.kind === 'unknown' && snapshot.object === undefined ? all.some(isAnnotated) : isAnnotated(one);
  });
};

export interface ViewOptions {
  readonly isScaling: boolean;
  /** Only the leader restores, and so reads the counts that no watch shows. */
  readonly leads: boolean;
}

export const viewDependents = (seen: readonly SeenDependent[], { isScaling, leads }: ViewOptions): DependentsView => {
  const snapshots = inForce(seen).map(({ snapshot }) => snapshot);
  return {
    // Of one that does not exist or is not served, a scale-up could change nothing.
    nothingToRestore:
      !isScaling &&
      snapshots.every((snapshot) => {
        if (snapshot.kind === 'state') return hasNothingToRestore(snapshot.state);
        if (snapshot.kind !== 'unknown') return true;
        return !leads && snapshot.object !== undefined && !hasOurAnnotations(snapshot.object);
      }),
    // Our writes count before the watch shows them; in a dry run the simulated ones do.
    held: snapshots.filter(awaitsRestoration).length,
    mayBeHeld: snapshots.some(
      (snapshot) => awaitsRestoration(snapshot) || (snapshot.kind === 'unknown' && snapshot.object === undefined),
    ),
  };
};
