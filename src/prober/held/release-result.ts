import { formerInWords } from '../../gardener/annotated.ts';
import { ignoresScaling, isHeld, replicasAnnotation } from '../../gardener/scaling-annotations.ts';
import { type HeldResource, heldName } from './held.ts';

export interface ReleaseResult {
  readonly restored: readonly string[];
  /** What is still at 0, or annotated, and why. */
  readonly left: readonly string[];
}

/** Of what is no prober's to restore. Without a mark: of a shoot that is not hibernated. */
export const whyByHand = ({ state }: HeldResource): string | undefined => {
  const { key } = state.annotation ?? {};
  const remedy = key === undefined ? 'scale it by hand' : `change the annotation ${key} by hand`;
  if (ignoresScaling(state)) return `its annotation ignore-scaling keeps us off: ${remedy}`;
  if (!isHeld(state)) {
    const what = key === undefined ? 'count' : 'annotation';
    return `it has a stored ${what} and no mark that we hold it: ${remedy}, unless its shoot is hibernated`;
  }
  return undefined;
};

/** What is still down of what was held, why, and what can be done. */
export const explain = (resource: HeldResource, why: string): string => {
  const { state } = resource;
  const { annotation, specReplicas } = state;
  const is =
    annotation === undefined ? `is at ${String(specReplicas)} replicas` : `is annotated with ${annotation.key}`;
  return `${heldName(resource)} ${is}${wasOf(resource)}: ${why}`;
};

/** `, was 2`: what it goes back to; empty where nothing says so. */
export const wasOf = ({ state: { annotation, annotations } }: HeldResource): string => {
  const was = annotation === undefined ? annotations[replicasAnnotation] : formerInWords(annotations);
  return was === undefined ? '' : `, was ${was}`;
};

/** What a release would do, as far as the held resources themselves say. */
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
