import { ignoresScaling, isHeld, replicasAnnotation } from '../kubernetes/api/scalable.ts';
import { type HeldResource, heldName } from './held.ts';

export interface ReleaseResult {
  readonly restored: readonly string[];
  /** What is still at 0, and why. */
  readonly left: readonly string[];
}

/** Of what is no prober's to restore. Without a mark: of a shoot that is not hibernated. */
export const whyByHand = ({ state }: HeldResource): string | undefined => {
  if (ignoresScaling(state)) return 'its annotation ignore-scaling keeps us off: scale it by hand';
  if (!isHeld(state)) {
    return 'it has a stored count and no mark that we hold it: scale it by hand, unless its shoot is hibernated';
  }
  return undefined;
};

/** What is still down of what was held, why, and what can be done. */
export const explain = (resource: HeldResource, why: string): string => {
  const { state } = resource;
  const stored = state.annotations[replicasAnnotation];
  const was = stored === undefined ? '' : `, was ${stored}`;
  return `${heldName(resource)} is at ${String(state.specReplicas)} replicas${was}: ${why}`;
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
