/** A node as it was seen; times in milliseconds since the epoch. */
export interface NodeSnapshot {
  readonly name: string;
  /** Status of its Ready condition. */
  readonly ready: string;
  /** Last renewal of its Lease; undefined when it has none. */
  readonly renewedAt?: number;
}

export interface DeploymentSnapshot {
  readonly name: string;
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Value of our annotation that keeps the count. */
  readonly stored?: string;
  /** Carries the mark of meltdown protection. */
  readonly active: boolean;
}

export interface PodSnapshot {
  readonly name: string;
  readonly uid: string;
  /** The Deployment or StatefulSet that it is of, by the name of its container. */
  readonly component: string;
  readonly ready: boolean;
  readonly deleting: boolean;
  readonly restarts: number;
  /** While it is in CrashLoopBackOff: how long in all, and until when (milliseconds since the epoch). */
  readonly backOff?: { readonly ms: number; readonly endsAt: number };
}

export interface ShootSnapshot {
  readonly name: string;
  /** What is done to it at the moment, by the annotations on its Cluster. */
  readonly isCut: boolean;
  readonly isEtcdDown: boolean;
  /** Whether it has an API server that could be asked for nodes and leases; without one they are empty. */
  readonly answers: boolean;
  readonly nodes: readonly NodeSnapshot[];
  readonly deployments: readonly DeploymentSnapshot[];
  /** Names of its Machines. */
  readonly machines: readonly string[];
  readonly pods: readonly PodSnapshot[];
  /** Names of the pods that the weeder has left an Event about. */
  readonly weeded: readonly string[];
}

/** What the API servers said at one moment. */
export interface Snapshot {
  /** Milliseconds since the demo began. */
  readonly at: number;
  /** Milliseconds since the epoch. */
  readonly wall: number;
  readonly shoots: readonly ShootSnapshot[];
}

export const shootIn = (snapshot: Snapshot, name: string): ShootSnapshot => {
  const shoot = snapshot.shoots.find((candidate) => candidate.name === name);
  if (shoot === undefined) throw new Error(`no shoot ${name} in the snapshot`);
  return shoot;
};

export const isHeld = ({ replicas, stored, active }: DeploymentSnapshot): boolean =>
  replicas === 0 && active && stored !== undefined;

/** Up, ready, and without marks of ours. */
export const isUp = ({ replicas, readyReplicas, stored, active }: DeploymentSnapshot): boolean =>
  replicas > 0 && readyReplicas >= replicas && stored === undefined && !active;

/** Ages of the leases in milliseconds, the youngest first. */
export const leaseAges = ({ nodes }: ShootSnapshot, wall: number): readonly number[] =>
  nodes.flatMap(({ renewedAt }) => (renewedAt === undefined ? [] : [wall - renewedAt])).sort((a, b) => a - b);
