import { describeStoredValue } from '../../gardener/annotated.ts';
import { ignoresScaling, hasMark, replicasAnnotation } from '../../gardener/scaling-annotations.ts';
import { type HeldResource, heldName } from './held.ts';

export interface ReleaseResult {
  readonly restored: readonly string[];
  /** Resources that are still at 0, or annotated, each with the reason. */
  readonly left: readonly string[];
}

/**
 * Returns why no prober restores a resource, and how to do it by hand; undefined if a prober restores it. A resource without a mark is left to the operator
 * unless its shoot is hibernated.
 */
export const whyByHand = ({ state }: HeldResource): string | undefined => {
  const { key } = state.annotation ?? {};
  const remedy = key === undefined ? 'scale it by hand' : `change the annotation ${key} by hand`;
  if (ignoresScaling(state)) return `its annotation ignore-scaling excludes it: ${remedy}`;
  if (!hasMark(state)) {
    const what = key === undefined ? 'count' : 'annotation';
    return `it has a stored ${what} but not the annotation meltdown-protection-active: ${remedy}, unless its shoot is hibernated`;
  }
  return undefined;
};

/** Describes a resource that is still held: its state, the reason, and the remedy. */
export const explain = (resource: HeldResource, why: string): string => {
  const { state } = resource;
  const { annotation, specReplicas } = state;
  const condition =
    annotation === undefined ? `is at ${String(specReplicas)} replicas` : `is annotated with ${annotation.key}`;
  return `${heldName(resource)} ${condition}${formerSuffix(resource)}: ${why}`;
};

/** Returns the former count or annotation, such as `, was 2`; empty if it is not stored. */
export const formerSuffix = ({ state: { annotation, annotations } }: HeldResource): string => {
  const was = annotation === undefined ? annotations[replicasAnnotation] : describeStoredValue(annotations);
  return was === undefined ? '' : `, was ${was}`;
};

/** Predicts the result of a release from the held resources alone. */
export const foreseeRelease = (held: readonly HeldResource[]): ReleaseResult => {
  const left = held.flatMap((resource) => {
    const why = whyByHand(resource);
    return why === undefined ? [] : [{ resource, why }];
  });
  const stays = new Set(left.map(({ resource }) => resource));
  return {
    restored: held.filter((resource) => !stays.has(resource)).map(heldName),
    left: left.map(({ resource, why }) => explain(resource, why)),
  };
};
