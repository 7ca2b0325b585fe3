import type { Kube } from '../../kubernetes/api/kube.ts';
import { createKubeClient } from '../../kubernetes/client/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { type HeldQuery, type HeldResource, findHeldOf, findMarked, isLeftover } from './held.ts';
import type { Owners } from './of-cluster.ts';
import { clusterOfHeld, inOrder } from './release-settings.ts';
import type { ProberSettings } from '../settings.ts';

export interface ListHeldOptions extends Pick<Owners, 'isKnown'> {
  /** Of the prober whose resources are released: what is restored, and in which order. What else is held comes last. */
  readonly settings: ProberSettings;
  /** Names of clusters: nothing is released elsewhere, and nothing that the settings do not name. Default: all that is held, whatever its name. */
  readonly clusters?: ReadonlySet<string>;
  readonly seed: Kube;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const queryOf = ({ settings, seed, clock, signal }: ListHeldOptions): HeldQuery => ({
  client: createKubeClient({ kube: seed, clock }),
  refs: settings.dependentResources.map(({ ref }) => ref),
  signal,
});

/** What is held, and what a writer that does not know all our annotations has left of them, in the order in which it is restored. Rejects with an ApiError. */
export const listMarked = async (options: ListHeldOptions): Promise<readonly HeldResource[]> => {
  const { clusters } = options;
  if (clusters === undefined) return inOrder(await findMarked(queryOf(options)), options);
  const held = (await findHeldOf(queryOf(options))).filter((resource) =>
    clusters.has(clusterOfHeld(options, resource)),
  );
  return inOrder(held, options);
};

/** All that the settings name and that is held, in the order in which it is restored. Rejects with an ApiError. */
export const listHeldOf = async (options: ListHeldOptions): Promise<readonly HeldResource[]> =>
  inOrder(await findHeldOf(queryOf(options)), options);

/** All that is held in a seed. Rejects with an ApiError. */
export const listHeld = async (options: ListHeldOptions): Promise<readonly HeldResource[]> =>
  (await listMarked(options)).filter((resource) => !isLeftover(resource));
