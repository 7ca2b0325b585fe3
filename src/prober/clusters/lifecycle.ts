import type { PoolConditions } from '../../gardener/candidate-nodes.ts';
import type { ShootView } from '../../gardener/cluster.ts';

/** Settings that a prober derives from its shoot. A change takes effect with the next run. */
export interface ShootSettings {
  readonly poolConditions: PoolConditions;
  /** The shoot's own node monitor grace period, in milliseconds. */
  readonly nodeMonitorGraceMs?: number;
}

/**
 * Action of a stopped prober on resources that it holds. `restore`: scales them up (no node is left that could be harmed). `release`: removes the annotation
 * and leaves the replica count to its owner (Gardener keeps a count of 0 as long as that is there). `nothing`: leaves them.
 */
export type ReleasePolicy = 'restore' | 'release' | 'nothing';

/** The end of probing, and what becomes of the resources that are held. */
export interface ProbingEnd {
  readonly releasePolicy: ReleasePolicy;
  /** Why probing ends, for log and Events. */
  readonly reason: string;
}

export type LifecycleDecision =
  | { readonly kind: 'run'; readonly settings: ShootSettings }
  | ({ readonly kind: 'stop' } & ProbingEnd)
  /** No prober is started; a running one continues unchanged. */
  | { readonly kind: 'leave'; readonly reason: string };

export const sameSettings = (a: ShootSettings, b: ShootSettings): boolean =>
  a.nodeMonitorGraceMs === b.nodeMonitorGraceMs && describeConditions(a) === describeConditions(b);

const describeConditions = ({ poolConditions }: ShootSettings): string =>
  JSON.stringify([...poolConditions].map(([pool, types]) => [pool, [...types].sort()]).sort());

/** Stops the prober when Gardener has deleted the Cluster: no resources are left to restore. */
export const shootGone: LifecycleDecision = { kind: 'stop', releasePolicy: 'nothing', reason: 'the Cluster is gone' };

/** Decides if a shoot is probed. */
export const decideShootLifecycle = (shoot: ShootView): LifecycleDecision => {
  const { lastOperation } = shoot;
  if (shoot.deleting) return { kind: 'stop', releasePolicy: 'release', reason: 'the shoot is being deleted' };
  if (shoot.hibernationEnabled) return { kind: 'stop', releasePolicy: 'release', reason: 'hibernation is enabled' };
  if (lastOperation?.type === 'Migrate') {
    return { kind: 'stop', releasePolicy: 'release', reason: 'its control plane is being migrated' };
  }
  if (!shoot.hasWorkers) return { kind: 'stop', releasePolicy: 'restore', reason: 'the shoot has no workers' };
  if (shoot.hibernated) return { kind: 'leave', reason: 'the shoot is waking up' };
  if (lastOperation === undefined) return { kind: 'leave', reason: 'its creation has not begun' };
  return decideByOperation(shoot, lastOperation);
};

const decideByOperation = (
  { poolConditions, nodeMonitorGraceMs }: ShootView,
  { type, state }: { readonly type: string; readonly state: string },
): LifecycleDecision => {
  const settings = { poolConditions, nodeMonitorGraceMs };
  switch (type) {
    case 'Reconcile':
      return { kind: 'run', settings };
    case 'Create':
    case 'Restore':
      return state === 'Succeeded'
        ? { kind: 'run', settings }
        : { kind: 'leave', reason: `its last operation ${type} is ${state === '' ? 'not finished' : state}` };
    default:
      return { kind: 'leave', reason: `its last operation is ${type}` };
  }
};

/** State, in the seed, of a cluster that is found by the Secret with its kubeconfig. */
export interface SecretCluster {
  /** `missing`: it existed a moment ago, and may be created again. */
  readonly secret: 'there' | 'missing' | 'gone';
  readonly namespaceDeleting: boolean;
  /** True if the cluster has dependent resources in other namespaces, which are not deleted with its own. */
  readonly holdsElsewhere: boolean;
}

/** Restores held resources, because nobody else would. */
export const secretGone: LifecycleDecision = {
  kind: 'stop',
  releasePolicy: 'restore',
  reason: 'the Secret with its kubeconfig is gone',
};

/** Decides if the cluster is probed. */
export const decideSecretLifecycle = ({
  secret,
  namespaceDeleting,
  holdsElsewhere,
}: SecretCluster): LifecycleDecision => {
  if (namespaceDeleting) {
    // Resources elsewhere would stay at 0 for good: without their annotation, and with the Namespace gone, nobody would know that we scaled them.
    const releasePolicy = holdsElsewhere ? 'restore' : 'release';
    return { kind: 'stop', releasePolicy, reason: 'its namespace is being deleted' };
  }
  switch (secret) {
    case 'there':
      return { kind: 'run', settings: { poolConditions: new Map() } };
    case 'missing':
      return { kind: 'leave', reason: 'the Secret with its kubeconfig was deleted a moment ago' };
    case 'gone':
      return secretGone;
  }
};

/** A Secret whose labels mark it as the one with the kubeconfig of the cluster in its namespace. */
export interface LabelledSecret {
  readonly name: string;
  /** Creation time in microseconds since the epoch. */
  readonly created: number;
  readonly deleting: boolean;
  /** Text of the kubeconfig; undefined if the Secret has no such key. */
  readonly text: string | undefined;
}

export interface ChosenSecret<T> {
  readonly secret: T;
  /** Names of the other Secrets that might be meant. */
  readonly others: readonly string[];
}

const byAge = (a: LabelledSecret, b: LabelledSecret): number => a.created - b.created || (a.name < b.name ? -1 : 1);

/**
 * Chooses a cluster's Secret among those that match: the oldest with a kubeconfig, then the first by name; one without a kubeconfig, or that is being deleted,
 * only if there is no other. So a new Secret, which may belong to another cluster, does not take over; all replicas choose the same; and when the oldest is
 * deleted, the next is used at once. (The labels of Cluster API are on all Secrets of a cluster, also on those of its certificates.)
 */
export const chooseSecret = <T extends LabelledSecret>(secrets: Iterable<T>): ChosenSecret<T> | undefined => {
  const all = [...secrets].toSorted(byAge);
  const staying = all.filter(({ deleting }) => !deleting);
  const usable = staying.filter(({ text }) => text !== undefined);
  const [secret = staying[0] ?? all[0], ...others] = usable;
  return secret && { secret, others: others.map(({ name }) => name) };
};

/** Returns a sentence for the operator, who has to remove the others; undefined if there are none. */
export const describeOthers = (name: string, others: readonly string[]): string | undefined =>
  others.length === 0
    ? undefined
    : `${String(others.length + 1)} Secrets with a kubeconfig have the labels of clusterSource.selector: the prober uses ${name}, the oldest, and not ${others.join(', ')}`;
