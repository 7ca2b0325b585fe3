import type { ProtectionState } from '../../prober/status/index.ts';

export interface NodeStatus {
  readonly name: string;
  /** Status of its Ready condition. */
  readonly ready: string;
  /** Last renewal of its Lease; absent when it has none. */
  readonly renewedAt?: number;
}

/** A Deployment or StatefulSet of the control plane, or what is annotated while it is held. */
export interface ComponentStatus {
  readonly name: string;
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Value of our annotation that keeps the count. */
  readonly stored?: string;
  /** Key of the annotation that is set, where it is not scaled. */
  readonly annotation?: string;
  /** Carries the mark of meltdown protection. */
  readonly active: boolean;
  /** Carries the annotation that keeps the prober off. */
  readonly ignored: boolean;
}

export interface PodStatus {
  readonly name: string;
  readonly uid: string;
  /** Name of the component that it belongs to. */
  readonly component: string;
  readonly deleting: boolean;
  readonly restarts: number;
  /** While it is in CrashLoopBackOff. */
  readonly backOff?: { readonly ms: number; readonly endsAt: number };
}

export interface ShootSnapshot {
  readonly name: string;
  readonly state: ProtectionState;
  /** Since when it is in this state. */
  readonly since?: number;
  /** The last verdict in words and numbers. */
  readonly reason?: string;
  /** What happens next. */
  readonly next?: string;
  /** An outage goes on, and nothing is held, or not all. Default: false. */
  readonly isUnmet?: boolean;
  /** Names of what `ignore-scaling` keeps from being scaled down. Default: none. */
  readonly ignored?: readonly string[];
  /** Leases that count, where not all nodes are known. Default: those of `nodes`. */
  readonly counts?: { readonly expired: number; readonly candidates: number };
  /** True if its API server has a ready pod; otherwise `nodes` is empty. */
  readonly answers: boolean;
  readonly nodes: readonly NodeStatus[];
  readonly components: readonly ComponentStatus[];
  /** Names of its Machines. */
  readonly machines: readonly string[];
  readonly pods: readonly PodStatus[];
  /** Names of the pods that the weeder has left an Event about. */
  readonly weeded: readonly string[];
}

/** A seed at one moment: its objects, and what the leader knows of its last probes. Times are milliseconds since the epoch. */
export interface StatusSnapshot {
  readonly at: number;
  /** Components that somebody leads. */
  readonly leaders: readonly string[];
  /** Age in milliseconds from which the prober takes a lease for expired. */
  readonly leaseExpiryMs: number;
  /** KCM's grace period, in milliseconds. */
  readonly graceMs: number;
  readonly shoots: readonly ShootSnapshot[];
}

export const shootIn = ({ shoots }: StatusSnapshot, name: string): ShootSnapshot => {
  const shoot = shoots.find((candidate) => candidate.name === name);
  if (shoot === undefined) throw new Error(`no shoot ${name} in the snapshot`);
  return shoot;
};

export const isHeld = ({ replicas, stored, active }: ComponentStatus): boolean =>
  replicas === 0 && active && stored !== undefined;

/** True if it is up, ready, and without marks of ours. */
export const isUp = ({ replicas, readyReplicas, stored, active }: ComponentStatus): boolean =>
  replicas > 0 && readyReplicas >= replicas && stored === undefined && !active;

/** Ages of the leases in milliseconds, the youngest first. A clock that is ahead makes none younger than 0. */
export const leaseAges = ({ nodes }: ShootSnapshot, at: number): readonly number[] =>
  nodes
    .flatMap(({ renewedAt }) => (renewedAt === undefined ? [] : [Math.max(0, at - renewedAt)]))
    .sort((a, b) => a - b);
