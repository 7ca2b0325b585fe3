import type { ShootState } from '../../src/status/state/states.ts';

export interface NodeStatus {
  readonly name: string;
  /** Status of the node's Ready condition. */
  readonly ready: string;
  /** Last renewal of the node's Lease; absent without a Lease. */
  readonly renewedAt?: number;
}

/** A Deployment or StatefulSet of the control plane. */
export interface ComponentStatus {
  readonly name: string;
  /** The object's resourceVersion, which orders its changes among those of other objects. Default: unknown. */
  readonly resourceVersion?: number;
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Value of the annotation that stores the replicas to restore. */
  readonly stored?: string;
  /** True if the resource has the annotation `meltdown-protection-active`. */
  readonly active: boolean;
}

export interface PodStatus {
  readonly name: string;
  readonly uid: string;
  /** Name of the pod's component. */
  readonly component: string;
  readonly deleting: boolean;
  readonly restarts: number;
  /** Length and end of the back-off; present while the pod is in CrashLoopBackOff. */
  readonly backOff?: { readonly ms: number; readonly endsAt: number };
}

export interface ShootSnapshot {
  readonly name: string;
  readonly state: ShootState;
  /** What the prober tells of this state. */
  readonly why?: string;
  /** True if the API server has a ready pod; otherwise `nodes` is empty. */
  readonly answers: boolean;
  /** True while all its kubelets are cut off, and while its etcd is down, by faults. */
  readonly isCut: boolean;
  readonly isEtcdDown: boolean;
  readonly nodes: readonly NodeStatus[];
  readonly components: readonly ComponentStatus[];
  /** Names of the shoot's Machines. */
  readonly machines: readonly string[];
  readonly pods: readonly PodStatus[];
  /** Pods for which the weeder has created an Event, with the Event's resourceVersion. */
  readonly weeded: readonly { readonly pod: string; readonly resourceVersion: number }[];
}

/** A seed at one moment: its objects, and the leader's results of the last probes. Times are milliseconds since the epoch. */
export interface StatusSnapshot {
  readonly at: number;
  readonly shoots: readonly ShootSnapshot[];
}

/** True if there are replicas, all of them are ready, and the resource has no annotation of the prober. */
export const isUp = ({ replicas, readyReplicas, stored, active }: ComponentStatus): boolean =>
  replicas > 0 && readyReplicas >= replicas && stored === undefined && !active;

/** Returns the ages of the leases in milliseconds, youngest first. An age is at least 0, even if a node's clock is ahead. */
export const leaseAges = ({ nodes }: ShootSnapshot, at: number): readonly number[] =>
  nodes
    .flatMap(({ renewedAt }) => (renewedAt === undefined ? [] : [Math.max(0, at - renewedAt)]))
    .sort((a, b) => a - b);
