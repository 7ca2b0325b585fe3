import type { CapiCluster } from '../../cluster-api/cluster.ts';
import type { LifecycleDecision } from './lifecycle.ts';

/** Restores held resources, because nobody else would. */
const restore = (reason: string): LifecycleDecision => ({ kind: 'stop', releasePolicy: 'restore', reason });

export const capiClusterGone = restore('its Cluster is gone');

/** Decides if a cluster of Cluster API is probed. */
export const decideCapiLifecycle = ({
  deleting,
  paused,
  initialized,
}: Pick<CapiCluster, 'deleting' | 'paused' | 'initialized'>): LifecycleDecision => {
  if (deleting) return restore('its Cluster is being deleted');
  if (paused) return restore('its Cluster is paused');
  if (!initialized) return { kind: 'leave', reason: 'its control plane is not initialized yet' };
  return { kind: 'run', settings: { poolConditions: new Map() } };
};
