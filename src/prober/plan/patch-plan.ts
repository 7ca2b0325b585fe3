import { type AnnotationChange, type ResourceState, scalesInOneWrite } from '../../kubernetes/api/scalable.ts';
import { restoreAnnotation, setAnnotation } from '../../gardener/annotated.ts';
import { heldAnnotation } from '../../gardener/held-note.ts';
import {
  formerAnnotation,
  meltdownProtectionAnnotation,
  ignoresScaling,
  isHeld,
  isMarked,
  hasOurAnnotations,
  replicasAnnotation,
  replicasToRestore,
  scalingFieldManager,
} from '../../gardener/scaling-annotations.ts';
import type { DependentResource } from '../settings.ts';

/** `release` only removes the annotation of meltdown protection, and leaves the counts to their owner; a resource that is annotated gets its former annotation back. */
export type Direction = 'down' | 'up' | 'release';

/** `held`: of the resources, only those that `isHeld`. */
export type ScalingScope = 'all' | 'held';

/** Of a resource that is no longer configured, only what we hold is ours. */
export const narrowScope = (scope: ScalingScope, { onlyWhereHeld }: DependentResource): ScalingScope =>
  onlyWhereHeld === true ? 'held' : scope;

/** One request that changes a resource, refused by the API server when the resource is no longer at `base.resourceVersion`. */
export interface Write {
  readonly base: ResourceState;
  /** `object`: annotations, and with `replicas` the count in the same request; `scale`: the count through the subresource. */
  readonly kind: 'object' | 'scale';
  readonly annotations?: AnnotationChange;
  readonly replicas?: number;
  /** For a resource that is annotated and not scaled: its annotation is set to protect it, or given back. */
  readonly annotating?: 'down' | 'up';
  /** What is stored and could not be read, when 1 replica, or no annotation, is restored in its place. */
  readonly unreadable?: string;
  /** The field manager whose count or annotation this write overwrites: a human or an autoscaler scaled what we hold, or stopped what we keep up. */
  readonly undoes?: string;
}

/** What a write does to a resource; undefined: only our marks change. */
export const effectOf = ({ replicas, annotating }: Write): 'down' | 'up' | undefined => {
  if (replicas === undefined) return annotating;
  return replicas === 0 ? 'down' : 'up';
};

export type PatchPlan =
  | { readonly kind: 'write'; readonly write: Write; readonly scaling: boolean }
  /** Nothing to write any more: wait until the resource shows it. */
  | { readonly kind: 'settle' }
  | { readonly kind: 'done'; readonly outcome: 'ignored' | 'released' | 'not-held' };

const withoutMark: AnnotationChange = { [meltdownProtectionAnnotation]: null, [heldAnnotation]: null };
const withoutCount: AnnotationChange = { ...withoutMark, [replicasAnnotation]: null };
const withoutFormer: AnnotationChange = { ...withoutMark, [formerAnnotation]: null };

const withoutOurAnnotations = ({ annotation }: ResourceState): AnnotationChange =>
  annotation === undefined ? withoutCount : withoutFormer;

export interface PatchAim {
  readonly direction: Direction;
  readonly scope: ScalingScope;
  /** What a scale-down writes as `heldAnnotation`. */
  readonly note?: string | undefined;
  /** Set for a standby: it scales down, and leaves the marks of others to the leader. */
  readonly withoutLead?: object | undefined;
}

/** What one resource needs next. Depends on its state alone, so that the next run completes what a crash has interrupted. */
export const planPatch = (
  resource: DependentResource,
  state: ResourceState,
  { direction, scope, note, withoutLead }: PatchAim,
): PatchPlan => {
  // A count is its owner's to give back, but nobody else would take an annotation of ours away.
  const isLeftToOwner = direction === 'release' && state.annotation === undefined;
  if (isLeftToOwner || ignoresScaling(state)) {
    if (isMarked(state) && withoutLead === undefined) return annotate(state, withoutMark);
    return { kind: 'done', outcome: direction === 'release' ? 'released' : 'ignored' };
  }
  if (scope === 'held' && !isHeld(state)) {
    return isMarked(state) ? annotate(state, withoutMark) : { kind: 'done', outcome: 'not-held' };
  }
  const atOnce = state.annotation !== undefined || scalesInOneWrite(resource.ref);
  switch (direction) {
    case 'down':
      return planDown(state, { atOnce, note });
    case 'up':
      return planUp(state, atOnce);
    case 'release':
      return hasOurAnnotations(state) ? planUp(state, atOnce) : { kind: 'done', outcome: 'released' };
  }
};

const annotate = (base: ResourceState, annotations: AnnotationChange): PatchPlan => ({
  kind: 'write',
  write: { base, kind: 'object', annotations },
  scaling: false,
});

/** Of a count whose writer `managedFields` do not name. */
export const unknownManager = 'unknown';

/** Who set the count, unless it was a dependency-watchdog. */
const otherWriter = ({ replicasManager = unknownManager }: ResourceState): Pick<Write, 'undoes'> =>
  replicasManager === scalingFieldManager ? {} : { undoes: replicasManager };

const planDown = (
  state: ResourceState,
  { atOnce, note }: { readonly atOnce: boolean } & Pick<PatchAim, 'note'>,
): PatchPlan => {
  if (state.specReplicas === 0) return { kind: 'settle' };
  const stored = String(state.specReplicas);
  const mark = { [meltdownProtectionAnnotation]: '', ...(note === undefined ? {} : { [heldAnnotation]: note }) };
  const undone = isHeld(state) ? otherWriter(state) : {};
  const { annotation } = state;
  if (annotation !== undefined) {
    const annotations = { ...setAnnotation(annotation, state.annotations), ...mark };
    return scaleWith({ base: state, kind: 'object', annotations, annotating: 'down', ...undone });
  }
  const annotations = { [replicasAnnotation]: stored, ...mark };
  if (atOnce) return scaleWith({ base: state, kind: 'object', annotations, replicas: 0, ...undone });
  // The first of our two writes leaves the annotations and the count like this.
  const isStored = isHeld(state) && state.annotations[replicasAnnotation] === stored;
  return isStored
    ? scaleWith({ base: state, kind: 'scale', replicas: 0 })
    : scaleWith({ base: state, kind: 'object', annotations, ...undone });
};

const planUp = (state: ResourceState, atOnce: boolean): PatchPlan => {
  if (state.specReplicas > 0) {
    return hasOurAnnotations(state) ? annotate(state, withoutOurAnnotations(state)) : { kind: 'settle' };
  }
  if (state.annotation !== undefined) {
    const { annotations, ...rest } = restoreAnnotation(state.annotation, state.annotations);
    const change = { ...annotations, ...withoutFormer };
    return scaleWith({ base: state, kind: 'object', annotations: change, annotating: 'up', ...rest });
  }
  const write = { base: state, ...replicasToRestore(state), ...(isHeld(state) ? {} : otherWriter(state)) };
  return scaleWith(atOnce ? { ...write, kind: 'object', annotations: withoutCount } : { ...write, kind: 'scale' });
};

const scaleWith = (write: Write): PatchPlan => ({ kind: 'write', write, scaling: true });

/** True if the resource shows what was asked for: its controller has seen the change, and its pods have followed. */
export const isSettled = (state: ResourceState, direction: Direction): boolean => {
  if (direction === 'release') return true;
  if (!state.observed) return false;
  return direction === 'down'
    ? state.specReplicas === 0 && state.readyReplicas === 0
    : state.specReplicas > 0 && state.readyReplicas >= 1;
};

/** Up, ready and without annotations of ours: a scale-up would change nothing. */
export const isUndisturbed = (state: ResourceState): boolean =>
  state.specReplicas > 0 && !hasOurAnnotations(state) && isSettled(state, 'up');
