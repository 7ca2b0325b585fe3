import type { Kube } from '../../kubernetes/api/kube.ts';
import { createKubeClient } from '../../kubernetes/client/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { siblingsIn } from './dropped.ts';
import { type HeldResource, findHeldOf } from './held.ts';
import { inOrder, withUnconfigured } from './release-settings.ts';
import type { ProberSettings } from '../config/settings.ts';

export interface ListHeldOptions {
  /** Settings of the prober whose resources are released. They determine the order. */
  readonly settings: ProberSettings;
  readonly seed: Kube;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Held resources in the order of restoration, and settings that name all of them. */
export interface ListedHeld {
  readonly held: readonly HeldResource[];
  readonly settings: ProberSettings;
}

/**
 * Lists all held resources that the settings name, and after them those that only the notes of these name: an earlier configuration named them. Rejects with
 * an ApiError.
 */
export const listHeld = async ({ settings, seed, clock, signal }: ListHeldOptions): Promise<ListedHeld> => {
  const client = createKubeClient({ kube: seed, clock });
  const find = ({ dependentResources }: ProberSettings): Promise<readonly HeldResource[]> =>
    findHeldOf({ client, refs: dependentResources.map(({ ref }) => ref), signal });
  const named = await find(settings);
  const siblings = named.flatMap(({ namespace, state: { annotations } }) => siblingsIn({ namespace, annotations }));
  const all = withUnconfigured(settings, siblings);
  const isMore = all.dependentResources.length > settings.dependentResources.length;
  return { held: inOrder(isMore ? await find(all) : named, all), settings: all };
};
