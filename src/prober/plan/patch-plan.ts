import {
  type AnnotationChange,
  type ResourceState,
  meltdownProtectionAnnotation,
  ignoresScaling,
  isHeld,
  isMarked,
  replicasAnnotation,
  replicasToRestore,
  scalesInOneWrite,
  scalingFieldManager,
} from '../../kubernetes/api/scalable.ts';
import type { DependentResource } from '../settings.ts';

/** `release` only removes the annotation of meltdown protection, and leaves the counts to their owner. */
export type Direction = 'down' | 'up' | 'release';

/** `held`: of the resources, only those that `isHeld`. */
export type Scope = 'all' | 'held';

/** Of a resource that is no longer configured, only what we hold is ours. */
export const narrowScope = (scope: Scope, { onlyWhereHeld }: DependentResource): Scope =>
  onlyWhereHeld === true ? 'held' : scope;

/** One request that changes a resource, refused by the API server when the resource is no longer at `base.resourceVersion`. */
export interface Write {
  readonly base: ResourceState;
  /** `object`: annotations, and with `replicas` the count in the same request; `scale`: the count through the subresource. */
  readonly kind: 'object' | 'scale';
  readonly annotations?: AnnotationChange;
  readonly replicas?: number;
  /** The stored number of replicas that could not be read, when 1 is restored in its place. */
  readonly unreadable?: string;
  /** The field manager whose count this write overwrites: a human or an autoscaler scaled what we hold, or stopped what we keep up. */
  readonly undoes?: string;
}

export type PatchPlan =
  | { readonly kind: 'write'; readonly write: Write; readonly scaling: boolean }
  /** Nothing to write any more: wait until the resource shows it. */
  | { readonly kind: 'settle' }
  | { readonly kind: 'done'; readonly outcome: 'ignored' | 'released' | 'not-held' };

const withoutMarks: AnnotationChange = { [meltdownProtectionAnnotation]: null, [replicasAnnotation]: null };

/** What one resource needs next. Depends on its state alone, so that the next run completes what a crash has interrupted. */
export const planPatch = (
  resource: DependentResource,
  state: ResourceState,
  { direction, scope }: { readonly direction: Direction; readonly scope: Scope },
): PatchPlan => {
  if (direction === 'release' || ignoresScaling(state)) {
    if (isHeld(state)) return annotate(state, { [meltdownProtectionAnnotation]: null });
    return { kind: 'done', outcome: direction === 'release' ? 'released' : 'ignored' };
  }
  if (scope === 'held' && !isHeld(state)) return { kind: 'done', outcome: 'not-held' };
  const atOnce = scalesInOneWrite(resource.ref);
  return direction === 'down' ? planDown(state, atOnce) : planUp(state, atOnce);
};

const annotate = (base: ResourceState, annotations: AnnotationChange): PatchPlan => ({
  kind: 'write',
  write: { base, kind: 'object', annotations },
  scaling: false,
});

/** Of a count whose writer `managedFields` do not name. */
export const unknownManager = 'unknown';

/** Nothing where the writer of the count was us, in whatever process. */
const otherWriter = ({ replicasManager = unknownManager }: ResourceState): Pick<Write, 'undoes'> =>
  replicasManager === scalingFieldManager ? {} : { undoes: replicasManager };

const planDown = (state: ResourceState, atOnce: boolean): PatchPlan => {
  if (state.specReplicas === 0) return { kind: 'settle' };
  const stored = String(state.specReplicas);
  const annotations = { [replicasAnnotation]: stored, [meltdownProtectionAnnotation]: '' };
  const undone = isHeld(state) ? otherWriter(state) : {};
  if (atOnce) return scaleWith({ base: state, kind: 'object', annotations, replicas: 0, ...undone });
  // The first of our two writes leaves the annotations and the count like this.
  const isStored = isHeld(state) && state.annotations[replicasAnnotation] === stored;
  return isStored
    ? scaleWith({ base: state, kind: 'scale', replicas: 0 })
    : scaleWith({ base: state, kind: 'object', annotations, ...undone });
};

const planUp = (state: ResourceState, atOnce: boolean): PatchPlan => {
  if (state.specReplicas > 0) return isMarked(state) ? annotate(state, withoutMarks) : { kind: 'settle' };
  const write = { base: state, ...replicasToRestore(state), ...(isHeld(state) ? {} : otherWriter(state)) };
  return scaleWith(atOnce ? { ...write, kind: 'object', annotations: withoutMarks } : { ...write, kind: 'scale' });
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

/** Up, ready and without marks of ours: nothing a scale-up could change. */
export const isUndisturbed = (state: ResourceState): boolean =>
  state.specReplicas > 0 && !isMarked(state) && isSettled(state, 'up');
