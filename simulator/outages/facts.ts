import { defaultNodeConditions } from '../../src/gardener/candidate-nodes.ts';
import { notManagedByMcm } from '../../src/gardener/node.ts';
import { type SimObject, asList, asMap, simKinds } from '../apiserver/index.ts';
import type { World, WorldShoot } from '../world/index.ts';
import type { ClusterPhase } from './history.ts';

// The specification's rules about objects, implemented independently of the components.

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** True if a node is a candidate, as far as the Node shows it. */
const isCandidateNode = ({ metadata, spec, status }: SimObject): boolean => {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  const taints = asList(asMap(spec).taints).map((taint) => asMap(taint).key);
  const isLeaving = metadata.deletionTimestamp !== undefined || taints.includes('ToBeDeletedByClusterAutoscaler');
  const isUnhealthy = conditions.some(({ type, status: is }) => defaultNodeConditions.includes(type) && is === 'True');
  return !isLeaving && !isUnhealthy && metadata.annotations?.[notManagedByMcm] === undefined;
};

const isAliveMachine = (machine: SimObject | undefined): boolean => {
  const { currentStatus } = (machine?.status ?? {}) as { readonly currentStatus?: { readonly phase?: string } };
  return machine !== undefined && currentStatus?.phase !== 'Failed' && currentStatus?.phase !== 'Terminating';
};

/** Returns the names of the nodes of a shoot that count. A seed without Gardener shows no Machines. */
export const candidatesOf = ({ store, source }: World, shoot: WorldShoot): readonly string[] =>
  shoot.store
    .list(simKinds.Node)
    .filter(isCandidateNode)
    .map(({ metadata: { name } }) => name)
    .filter(
      (name) =>
        source === 'secret' || isAliveMachine(store.get(simKinds.Machine, { namespace: shoot.namespace, name })),
    );

export const isUnknownNode = ({ status }: SimObject): boolean => {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions.some(({ type, status: is }) => type === 'Ready' && is === 'Unknown');
};

/** The parts of a Shoot that a Cluster's phase depends on. */
export interface EmbeddedShoot {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly spec: {
    readonly hibernation?: { readonly enabled?: boolean };
    readonly provider: { readonly workers?: readonly unknown[] };
  };
  readonly status: {
    readonly hibernated?: boolean;
    readonly lastOperation?: { readonly type: string; readonly state: string };
  };
}

/** Returns the phase of Gardener's Cluster. */
export const clusterPhase = (cluster: SimObject): ClusterPhase => {
  const { shoot } = cluster.spec as { readonly shoot: EmbeddedShoot };
  const { metadata, spec, status } = shoot;
  const { type, state } = status.lastOperation ?? { type: '', state: '' };
  const isLeaving = metadata.deletionTimestamp !== undefined || spec.hibernation?.enabled === true;
  if (isLeaving || type === 'Migrate') return 'release';
  if ((spec.provider.workers ?? []).length === 0) return 'restore';
  if (status.hibernated === true) return 'leave';
  return type === 'Reconcile' || state === 'Succeeded' ? 'run' : 'leave';
};

/** Time for which a Secret may be absent before its cluster counts as gone, in milliseconds. */
export const missingMs = 60_000;

/** Returns the phase of a cluster with the source `secret`. A deleted Secret is missing at first. */
export const secretPhase = (namespace: SimObject | undefined, secret: SimObject | undefined): ClusterPhase => {
  if (namespace?.metadata.deletionTimestamp !== undefined) return 'release';
  return secret === undefined || secret.metadata.deletionTimestamp !== undefined ? 'missing' : 'run';
};
