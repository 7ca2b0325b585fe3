import { type SimObject, type SimStore, asList, asMap, getPath, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type PathToServer, startLoop } from './actor.ts';
import type { Fleet } from './fleet.ts';
import { readyOf } from './nodes.ts';
import { poolLabel } from './objects.ts';

export interface ClusterAutoscalerInit {
  /** The shoot's namespace in the seed, whose store is in the deps. */
  readonly namespace: string;
  readonly shoot: SimStore;
  /** Path to the shoot's API server. */
  readonly path: PathToServer;
  readonly fleet: Fleet;
  /** Returns Gardener's Cluster, which lists the pools. */
  readonly cluster: () => unknown;
}

/** `--ok-total-unready-count` and `--max-total-unready-percentage`. */
const okTotalUnreadyCount = 3;
const maxTotalUnreadyPercentage = 45;

const minimumOf = (cluster: unknown, pool: unknown): number => {
  const workers = asList(getPath(cluster, ['spec', 'shoot', 'spec', 'provider', 'workers'])).map(asMap);
  const minimum = workers.find(({ name }) => name === pool)?.minimum;
  return typeof minimum === 'number' ? minimum : 0;
};

/**
 * Simulates the part of the cluster-autoscaler that handles unready nodes: it removes nodes that it saw unready for
 * `--scale-down-unready-time`, down to the minimum of their pool, and none while too many are unready. It adds no nodes, because a
 * simulated shoot has no pods that wait for one.
 * https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
 */
export const startClusterAutoscaler = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  { namespace, shoot, path, fleet, cluster }: ClusterAutoscalerInit,
): (() => void) => {
  let unreadySince = new Map<string, number>();
  /** The list of nodes when all were ready. The store returns the same list until a node changes. */
  let ready: readonly SimObject[] | undefined;

  const removeOldest = (nodes: readonly SimObject[]): void => {
    for (const { metadata } of nodes) {
      const { name, labels } = metadata;
      const age = clock.monotonic() - (unreadySince.get(name) ?? Number.POSITIVE_INFINITY);
      if (age < timing.unreadyNodeMs) continue;
      const pool = asMap(labels)[poolLabel];
      const size = nodes.filter((node) => asMap(node.metadata.labels)[poolLabel] === pool).length;
      if (size <= minimumOf(cluster(), pool)) continue;
      fleet.destroy(name);
      store.remove(simKinds.Machine, { namespace, name });
      return;
    }
  };

  return startLoop(clock, 0, () => {
    if (path() !== 'open') return timing.autoscalerScanMs;
    const nodes = shoot.list(simKinds.Node);
    if (nodes === ready) return timing.autoscalerScanMs;
    const unready = nodes.filter((node) => readyOf(node)?.status !== 'True').map(({ metadata }) => metadata.name);
    unreadySince = new Map(unready.map((name) => [name, unreadySince.get(name) ?? clock.monotonic()]));
    ready = unready.length === 0 ? nodes : undefined;
    const isHalted =
      unready.length > okTotalUnreadyCount && unready.length > (maxTotalUnreadyPercentage / 100) * nodes.length;
    if (!isHalted) removeOldest(nodes);
    return timing.autoscalerScanMs;
  });
};
