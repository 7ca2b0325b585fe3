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

export interface ShootSnapshot {
  readonly name: string;
  readonly nodes: readonly NodeSnapshot[];
  readonly deployments: readonly DeploymentSnapshot[];
  /** Names of its Machines. */
  readonly machines: readonly string[];
}

/** What the API servers said at one moment. */
export interface Snapshot {
  /** Milliseconds since the demo began. */
  readonly at: number;
  /** Milliseconds since the epoch. */
  readonly wall: number;
  readonly shoots: readonly ShootSnapshot[];
}

export const isHeld = ({ replicas, stored, active }: DeploymentSnapshot): boolean =>
  replicas === 0 && active && stored !== undefined;

/** Up, ready, and without marks of ours. */
export const isUp = ({ replicas, readyReplicas, stored, active }: DeploymentSnapshot): boolean =>
  replicas > 0 && readyReplicas >= replicas && stored === undefined && !active;

/** Ages of the leases in milliseconds, the youngest first. */
export const leaseAges = ({ nodes }: ShootSnapshot, wall: number): readonly number[] =>
  nodes.flatMap(({ renewedAt }) => (renewedAt === undefined ? [] : [wall - renewedAt])).sort((a, b) => a - b);
