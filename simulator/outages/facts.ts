import { defaultNodeConditions } from '../../src/gardener/candidate-nodes.ts';
import { notManagedByMcm } from '../../src/gardener/node.ts';
import { type SimObject, asList, asMap } from '../apiserver/index.ts';
import type { ClusterPhase } from './history.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Judges if a node is a candidate, as far as the Node shows it: the specification's rules, implemented independently of the prober. */
export const nodeFacts = (node: SimObject): { readonly isCandidate: boolean; readonly isUnknown: boolean } => {
  const { conditions = [] } = (node.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const isManaged = node.metadata.annotations?.[notManagedByMcm] === undefined;
  const isHealthy = !conditions.some(({ type, status }) => defaultNodeConditions.includes(type) && status === 'True');
  const isUnknown = conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
  return { isCandidate: isManaged && isHealthy, isUnknown };
};

/** The same without Machines. cluster-autoscaler sets the taint `ToBeDeletedByClusterAutoscaler` on a node that it removes. */
export const plainNodeFacts = (node: SimObject): ReturnType<typeof nodeFacts> => {
  const { conditions = [] } = (node.status ?? {}) as { readonly conditions?: readonly Condition[] };
  const isBroken = conditions.some(({ type, status }) => defaultNodeConditions.includes(type) && status === 'True');
  const taints = asList(asMap(node.spec).taints).map((taint) => asMap(taint).key);
  const isLeaving = node.metadata.deletionTimestamp !== undefined || taints.includes('ToBeDeletedByClusterAutoscaler');
  const isUnknown = conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
  return { isCandidate: !isBroken && !isLeaving, isUnknown };
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

/** Returns the phase of Gardener's Cluster: the specification's rules, implemented independently of the prober. */
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

/** Returns the phase of a cluster with the source `secret`, by the specification's rules. A deleted Secret is missing at first. */
export const secretPhase = (namespace: SimObject | undefined, secret: SimObject | undefined): ClusterPhase => {
  if (namespace?.metadata.deletionTimestamp !== undefined) return 'release';
  return secret === undefined || secret.metadata.deletionTimestamp !== undefined ? 'missing' : 'run';
};
