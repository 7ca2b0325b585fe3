import { defaultNodeConditions } from '../../src/gardener/candidate-nodes.ts';
import { notManagedByMcm } from '../../src/gardener/node-protobuf.ts';
import type { SimObject } from '../apiserver/index.ts';
import type { ClusterPhase } from './history.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Of the specification, read once more: what makes a node a candidate, as far as the node says. */
export const nodeFacts = (node: SimObject): { readonly isCandidate: boolean; readonly isUnknown: boolean } => {
  const { conditions = [] } = (node.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const isManaged = node.metadata.annotations?.[notManagedByMcm] === undefined;
  const isHealthy = !conditions.some(({ type, status }) => defaultNodeConditions.includes(type) && status === 'True');
  const isUnknown = conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
  return { isCandidate: isManaged && isHealthy, isUnknown };
};

export const isAliveMachine = (machine: SimObject): boolean => {
  const { currentStatus = {} } = (machine.status ?? {}) as { readonly currentStatus?: { readonly phase?: string } };
  return currentStatus.phase !== 'Failed' && currentStatus.phase !== 'Terminating';
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

/** Which shoots are watched, read once more from the specification. */
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
