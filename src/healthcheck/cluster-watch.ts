import { decodeObject, optionalBoolean, optionalObject, optionalString, type JsonObject } from '../domain/index.ts';
import { createInformer, type Informer, type WatchRegistry } from '../kube/index.ts';
import type { Clock, Kube, Logger, Random, StoreChange } from '../ports/index.ts';

/** What of a Cluster makes a run for its extension objects due at once. */
export interface ClusterState {
  readonly hibernated: boolean;
  /** Its control plane moves to another seed. */
  readonly migrating: boolean;
}

const child = (parent: JsonObject, path: string, field: string): JsonObject =>
  optionalObject(parent[field], `${path}.${field}`) ?? {};

/** Of a Cluster (`extensions.gardener.cloud/v1alpha1`), from the Shoot inside it. */
export const decodeClusterState = (json: unknown, path: string): ClusterState => {
  const at = `${path}.spec.shoot`;
  const shoot = child(child(decodeObject(json, path), path, 'spec'), `${path}.spec`, 'shoot');
  const hibernation = child(child(shoot, at, 'spec'), `${at}.spec`, 'hibernation');
  const operation = child(child(shoot, at, 'status'), `${at}.status`, 'lastOperation');
  return {
    hibernated: optionalBoolean(hibernation.enabled, `${at}.spec.hibernation.enabled`) ?? false,
    migrating: optionalString(operation.type, `${at}.status.lastOperation.type`) === 'Migrate',
  };
};

export interface ClusterWatchOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly kube: Kube;
  readonly registry: WatchRegistry;
}

/** Clusters of the seed, watched; of each only what is needed is kept. */
export type ClusterWatch = Informer<ClusterState>;

export const createClusterWatch = (options: ClusterWatchOptions): ClusterWatch =>
  createInformer({
    ...options,
    path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
    project: decodeClusterState,
  });

/** A Cluster that has just come may be the one that a run did not find. */
const isNews = ({ type, value, previous }: StoreChange<ClusterState>): boolean =>
  type === 'set' && (value.hibernated !== previous?.hibernated || value.migrating !== previous.migrating);

/** Calls `listener` with the name of each Cluster that changes in a way that counts, from the first list until `signal` aborts. */
export const onClusterNews = async (
  clusters: ClusterWatch,
  listener: (name: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  await clusters.whenSynced(signal).catch(() => undefined);
  if (signal.aborted) return;
  const unsubscribe = clusters.subscribe((change) => {
    if (isNews(change)) listener(change.key);
  });
  signal.addEventListener('abort', unsubscribe, { once: true });
};
