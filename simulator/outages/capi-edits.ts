import type { Clock } from '../../src/ports/clock.ts';
import { type SimObject, asMap, capiKinds } from '../apiserver/index.ts';
import { type World, type WorldShoot, annotated } from '../world/index.ts';
import { type End, nothing } from './fault-handlers.ts';
import type { Fault } from './plan.ts';
import { clusterRef, nodeNames } from './shoot-edits.ts';

// Changes that users and the controllers of Cluster API make to the objects of a cluster.

const edit = ({ store }: World, shoot: WorldShoot, change: (old: SimObject) => Parameters<typeof store.put>[1]): void =>
  void store.patch(capiKinds.Cluster, clusterRef(shoot), change);

export type CapiPause = Extract<Fault, { kind: 'cluster-paused' }>['how'];

/** Pauses a Cluster, by its spec or by the annotation. Any value of the annotation pauses, even `false`. */
export const pauseCluster = (world: World, shoot: WorldShoot, how: CapiPause): End => {
  const set = (isPaused: boolean): void =>
    edit(world, shoot, (old) =>
      how === 'spec'
        ? { ...old, spec: { ...asMap(old.spec), paused: isPaused } }
        : annotated({ 'cluster.x-k8s.io/paused': isPaused ? 'false' : undefined })(old),
    );
  set(true);
  return () => set(false);
};

/** Sets the deletion timestamp of a Cluster, for good. A finalizer keeps the object. */
export const deleteCluster = (world: World, shoot: WorldShoot, clock: Clock): End => {
  const deletionTimestamp = new Date(clock.now()).toISOString();
  edit(world, shoot, (old) => ({
    ...old,
    metadata: { ...old.metadata, deletionTimestamp, finalizers: ['cluster.cluster.x-k8s.io'] },
  }));
  return nothing;
};

/** Removes a Cluster. The returned function creates it again, like a restoration from a backup. */
export const removeForAWhile = ({ store }: World, shoot: WorldShoot): End => {
  const cluster = store.get(capiKinds.Cluster, clusterRef(shoot));
  store.remove(capiKinds.Cluster, clusterRef(shoot));
  return () => {
    if (cluster === undefined || store.get(capiKinds.Cluster, clusterRef(shoot)) !== undefined) return;
    const { uid: _uid, resourceVersion: _version, deletionTimestamp: _deleted, ...metadata } = cluster.metadata;
    store.put(capiKinds.Cluster, { ...cluster, metadata: { ...metadata, finalizers: [] } });
  };
};

/** Removes the conditions of a Cluster, as if its control plane were not initialized yet. */
export const uninitialize = (world: World, shoot: WorldShoot): End => {
  const { conditions } = asMap(world.store.get(capiKinds.Cluster, clusterRef(shoot))?.status);
  const set = (next: unknown): void =>
    edit(world, shoot, (old) => ({ ...old, status: { ...asMap(old.status), conditions: next } }));
  set([]);
  return () => set(conditions);
};

/** Sets the phase of the nodes' Machines, for good. The nodes keep running. */
export const leaveMachines = (
  { store }: World,
  shoot: WorldShoot,
  { nodes, phase }: { readonly nodes: readonly number[]; readonly phase: 'Deleting' | 'Failed' },
): End => {
  const { namespace, name: cluster } = clusterRef(shoot);
  for (const node of nodeNames(shoot, nodes)) {
    store.patch(capiKinds.Machine, { namespace, name: `${cluster}-${node}` }, (old) => ({
      ...old,
      status: { ...asMap(old.status), phase },
    }));
  }
  return nothing;
};
