import { ignoresScaling, hasMark, replicasAnnotation } from '../../annotations/scaling-annotations.ts';
import { type HeldResource, heldName } from './held.ts';

export interface ReleaseResult {
  readonly restored: readonly string[];
  /** Resources that are still at 0, each with the reason. */
  readonly left: readonly string[];
}

/**
 * Returns why no prober restores a resource, and how to do it by hand; undefined if a prober restores it. A resource without a mark is left to the operator
 * unless its shoot is hibernated.
 */
export const whyByHand = ({ state }: HeldResource): string | undefined => {
  if (ignoresScaling(state)) return 'its annotation ignore-scaling excludes it: scale it by hand';
  if (!hasMark(state)) {
    return 'it has a stored count but not the annotation meltdown-protection-active: scale it by hand, unless its shoot is hibernated';
  }
  return undefined;
};

/** Describes a resource that is still held: its state, the reason, and the remedy. */
export const explain = (resource: HeldResource, why: string): string =>
  `${heldName(resource)} is at ${String(resource.state.specReplicas)} replicas${formerSuffix(resource)}: ${why}`;

/** Returns the former count, such as `, was 2`; empty if it is not stored. */
export const formerSuffix = ({ state: { annotations } }: HeldResource): string => {
  const was = annotations[replicasAnnotation];
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
