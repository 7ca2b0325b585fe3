import type { Kube } from '../../kubernetes/api/kube.ts';
import { createKubeClient } from '../../kubernetes/client/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { type HeldQuery, type HeldResource, findHeldOf, findHeldAndLeftovers } from './held.ts';
import { clusterOfHeld, inOrder } from './release-settings.ts';
import type { ProberSettings } from '../settings.ts';

export interface ListHeldOptions {
  /** Settings of the prober whose resources are released. They determine the order; held resources that they do not name come last. */
  readonly settings: ProberSettings;
  /** Names of clusters: only their resources are released, and only those that the settings name. Default: all held resources, whatever their names. */
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

/**
 * Lists held resources in the order of restoration; without `clusters` also leftovers of a writer that does not know all our annotations (`isLeftover`).
 * Rejects with an ApiError.
 */
export const listHeldAndLeftovers = async (options: ListHeldOptions): Promise<readonly HeldResource[]> => {
  const { clusters } = options;
  if (clusters === undefined) return inOrder(await findHeldAndLeftovers(queryOf(options)), options);
  const held = (await findHeldOf(queryOf(options))).filter((resource) =>
    clusters.has(clusterOfHeld(options, resource)),
  );
  return inOrder(held, options);
};

/** Lists all held resources that the settings name, in the order of restoration. Rejects with an ApiError. */
export const listHeldOf = async (options: ListHeldOptions): Promise<readonly HeldResource[]> =>
  inOrder(await findHeldOf(queryOf(options)), options);
