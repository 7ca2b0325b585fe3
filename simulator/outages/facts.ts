import { defaultNodeConditions } from '../../src/gardener/candidate-nodes.ts';
import { notManagedByMcm } from '../../src/gardener/node-protobuf.ts';
import { type SimObject, asList, asMap } from '../apiserver/index.ts';
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

/** The same where no Machine is asked: `ToBeDeletedByClusterAutoscaler` is what cluster-autoscaler taints a node with that it removes. */
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

/** With Cluster API the Machines alone decide. */
export const capiNodeFacts = (node: SimObject): ReturnType<typeof nodeFacts> => ({
  ...nodeFacts(node),
  isCandidate: true,
});

/** The node that a Machine of Cluster API names, if it is one that counts. */
export const capiMachineFacts = (machine: SimObject): { readonly node?: string; readonly isAlive: boolean } => {
  const { nodeRef, phase } = asMap(machine.status);
  const { name } = asMap(nodeRef);
  const isLeaving = machine.metadata.deletionTimestamp !== undefined || phase === 'Deleting' || phase === 'Failed';
  return { ...(typeof name === 'string' ? { node: name } : {}), isAlive: !isLeaving };
};

/** Whether a Cluster of Cluster API is probed; what is held of one that is not is restored. */
export const capiPhase = (cluster: SimObject | undefined): ClusterPhase => {
  if (cluster === undefined) return 'restore';
  const { metadata, spec, status } = cluster;
  const isPaused = asMap(spec).paused === true || metadata.annotations?.['cluster.x-k8s.io/paused'] !== undefined;
  if (isPaused || metadata.deletionTimestamp !== undefined) return 'restore';
  const conditions = asList(asMap(status).conditions).map(asMap);
  return conditions.some(({ type, status: is }) => type === 'ControlPlaneInitialized' && is === 'True')
    ? 'run'
    : 'leave';
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

/** How long a Secret may be away before its cluster counts as gone, in milliseconds. */
export const missedMs = 60_000;

/** The same of a cluster that goes by its Secret, read once more from the specification. A Secret that has gone is missed at first. */
export const secretPhase = (namespace: SimObject | undefined, secret: SimObject | undefined): ClusterPhase => {
  if (namespace?.metadata.deletionTimestamp !== undefined) return 'release';
  return secret === undefined || secret.metadata.deletionTimestamp !== undefined ? 'missed' : 'run';
};
