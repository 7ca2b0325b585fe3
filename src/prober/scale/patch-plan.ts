import { type AnnotationChange, type ResourceState, isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import { heldAnnotation } from '../../annotations/held.ts';
import {
  meltdownProtectionAnnotation,
  ignoresScaling,
  hasActive,
  hasActiveOrHeld,
  hasOurAnnotations,
  hasStoredReplicas,
  replicasAnnotation,
  replicasToRestore,
  scalingFieldManager,
} from '../../annotations/scaling-annotations.ts';
import type { DependentResource } from '../config/settings.ts';

/** `release` only removes our annotation and leaves the replica count to its owner. */
export type Direction = 'down' | 'up' | 'release';

/** `held`: only resources that we hold. */
export type ScalingScope = 'all' | 'held';

/** Narrows the scope for a resource that is no longer configured: we touch it only if we hold it. */
export const narrowScope = (scope: ScalingScope, { restoreOnly }: DependentResource): ScalingScope =>
  restoreOnly === true ? 'held' : scope;

/** One request that changes a resource. Its precondition is `base.resourceVersion`: otherwise the API server returns a conflict. */
export interface Write {
  readonly base: ResourceState;
  /** `object` changes annotations and, with `replicas`, the count in the same request. `scale` changes the count through the subresource. */
  readonly kind: 'object' | 'scale';
  readonly annotations?: AnnotationChange;
  readonly replicas?: number;
  /** Stored value that could not be read. 1 replica is restored instead. */
  readonly unreadable?: string;
  /** Field manager whose count this write overwrites: a person or an autoscaler scaled up a held resource, or scaled down one not held. */
  readonly undoes?: string;
}

/** Returns the direction in which a write scales a resource; undefined if it only changes annotations. */
export const effectOf = ({ replicas }: Write): 'down' | 'up' | undefined => {
  if (replicas === undefined) return undefined;
  return replicas === 0 ? 'down' : 'up';
};

export type PatchPlan =
  | { readonly kind: 'write'; readonly write: Write; readonly scaling: boolean }
  /** Nothing is left to write; wait until the resource shows the change. */
  | { readonly kind: 'settle' }
  | { readonly kind: 'done'; readonly outcome: 'ignored' | 'released' | 'not-held' };

const withoutHeld: AnnotationChange = { [meltdownProtectionAnnotation]: null, [heldAnnotation]: null };
const withoutCountAndActive: AnnotationChange = { [meltdownProtectionAnnotation]: null, [replicasAnnotation]: null };
const withoutCount: AnnotationChange = { ...withoutHeld, ...withoutCountAndActive };

export interface PatchInput {
  readonly direction: Direction;
  readonly scope: ScalingScope;
  /** Value that a scale-down writes as `heldAnnotation`. */
  readonly heldValue?: string | undefined;
  /** Set for a standby, which scales down but leaves the annotations of other resources to the leader. */
  readonly withoutLead?: string | undefined;
  /** True while a resource may be at 0 of which only the annotations `held` of the others tell: they keep it. */
  readonly keepsNote?: boolean;
}

/** Returns the next patch of a resource. It depends on the resource's state alone, so that the next run completes work that a crash interrupted. */
export const planPatch = (
  resource: DependentResource,
  state: ResourceState,
  { direction, scope, heldValue, withoutLead, keepsNote: areNotesKept = false }: PatchInput,
): PatchPlan => {
  const keepsNote = areNotesKept && resource.restoreOnly !== true;
  if (direction === 'release' || ignoresScaling(state)) {
    if (hasActiveOrHeld(state) && withoutLead === undefined) return annotate(state, withoutHeld);
    return { kind: 'done', outcome: direction === 'release' ? 'released' : 'ignored' };
  }
  if (scope === 'held' && !hasActive(state)) {
    if (hasActiveOrHeld(state) && !keepsNote) return annotate(state, withoutHeld);
    const isAwaited = mayBeRestored(state) && resource.restoreOnly !== true;
    return isAwaited ? { kind: 'settle' } : { kind: 'done', outcome: 'not-held' };
  }
  const inOneWrite = isPatchableWorkload(resource.ref);
  return direction === 'down' ? planDown(state, { inOneWrite, heldValue }) : planUp(state, { inOneWrite, keepsNote });
};

const annotate = (base: ResourceState, annotations: AnnotationChange): PatchPlan => ({
  kind: 'write',
  write: { base, kind: 'object', annotations },
  scaling: false,
});

/** Writer of a count for which `managedFields` name no manager. */
export const unknownManager = 'unknown';

/** Returns the manager that set the count, unless it was a dependency-watchdog. */
const otherWriter = ({ replicasManager = unknownManager }: ResourceState): Pick<Write, 'undoes'> =>
  replicasManager === scalingFieldManager ? {} : { undoes: replicasManager };

/**
 * True if the count is ours, or may be: an attempt before this one, perhaps of another process, has restored the resource and left no annotation, and it is
 * awaited as in any scale-up. One that another writer has scaled up must not keep what we hold at 0.
 */
const mayBeRestored = ({ specReplicas, replicasManager = scalingFieldManager }: ResourceState): boolean =>
  specReplicas > 0 && replicasManager === scalingFieldManager;

const planDown = (
  state: ResourceState,
  { inOneWrite, heldValue }: { readonly inOneWrite: boolean } & Pick<PatchInput, 'heldValue'>,
): PatchPlan => {
  if (state.specReplicas === 0) return { kind: 'settle' };
  const stored = String(state.specReplicas);
  const held = {
    [meltdownProtectionAnnotation]: '',
    ...(heldValue === undefined ? {} : { [heldAnnotation]: heldValue }),
  };
  const undone = hasActive(state) ? otherWriter(state) : {};
  const annotations = { [replicasAnnotation]: stored, ...held };
  if (inOneWrite) return scaleWith({ base: state, kind: 'object', annotations, replicas: 0, ...undone });
  // This is the state after the first of our two writes.
  const isStored = hasActive(state) && state.annotations[replicasAnnotation] === stored;
  return isStored
    ? scaleWith({ base: state, kind: 'scale', replicas: 0 })
    : scaleWith({ base: state, kind: 'object', annotations, ...undone });
};

const planUp = (
  state: ResourceState,
  { inOneWrite, keepsNote }: { readonly inOneWrite: boolean; readonly keepsNote: boolean },
): PatchPlan => {
  const restored = keepsNote ? withoutCountAndActive : withoutCount;
  if (state.specReplicas > 0) {
    const isLeft = keepsNote ? hasActive(state) || hasStoredReplicas(state) : hasOurAnnotations(state);
    return isLeft ? annotate(state, restored) : { kind: 'settle' };
  }
  const write = { base: state, ...replicasToRestore(state), ...(hasActive(state) ? {} : otherWriter(state)) };
  return scaleWith(inOneWrite ? { ...write, kind: 'object', annotations: restored } : { ...write, kind: 'scale' });
};

const scaleWith = (write: Write): PatchPlan => ({ kind: 'write', write, scaling: true });

/** True if the resource has reached its target: its controller has observed the change, and its pods have followed. */
export const isSettled = (state: ResourceState, direction: Direction): boolean => {
  if (!state.observed) return false;
  return direction === 'down'
    ? state.specReplicas === 0 && state.readyReplicas === 0
    : state.specReplicas > 0 && state.readyReplicas >= 1;
};

/** True if the resource is scaled up, ready and without our annotations: a scale-up would change nothing. */
export const hasNothingToRestore = (state: ResourceState): boolean =>
  !hasOurAnnotations(state) && isSettled(state, 'up');
