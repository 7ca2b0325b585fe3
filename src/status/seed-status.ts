import type { PauseInForce, ProberStatus, ShootStatus } from './state/schema.ts';

/** State of the leader Lease. */
export interface LeaderLease {
  /** Identity of the leader. Empty if there is none. */
  readonly holder: string;
  /** Start of the leadership, in RFC 3339. */
  readonly since?: string;
  /** True if the holder has renewed the Lease within its duration, by the API server's clock. */
  readonly isFresh: boolean;
}

/** A pod of the prober. */
export interface Replica {
  readonly pod: string;
  readonly isReady: boolean;
  /** Number of the container's port `health`. */
  readonly healthPort: number;
}

/** Facts about the prober from the objects of the seed. */
export interface SeedObjects {
  /** Undefined if it could not be read. */
  readonly lease: LeaderLease | undefined;
  /** Undefined if they could not be read. */
  readonly replicas: readonly Replica[] | undefined;
  /** Reads that failed, a sentence each. */
  readonly problems: readonly string[];
}

/** Held resources and pauses that objects show. */
export interface HeldObjects {
  readonly shoots: readonly ShootStatus[];
  /** Number of clusters in the seed. */
  readonly total: number;
  /** The pause of all shoots. */
  readonly paused: PauseInForce | null;
  /** Reads that failed, a sentence each. */
  readonly problems: readonly string[];
}

/** 0: nothing is held, and all shoots are protected. 1: a shoot or the prober needs attention. 2: the state is not known. */
export type StatusExitCode = 0 | 1 | 2;

/** Status of a seed at one time, for the operator of its prober. */
export interface SeedStatus {
  /** Time of the status, in RFC 3339. */
  readonly at: string;
  /** `leader` or `standby`: the prober that has responded. `objects`: none has, and only objects were read. `none`: they could not be read either. `no-seed`: this is no seed. */
  readonly source: 'leader' | 'standby' | 'objects' | 'none' | 'no-seed';
  /** Name of the seed, by its Clusters, else what we connected to. */
  readonly seed: string;
  readonly lease: LeaderLease | undefined;
  readonly replicas: readonly Replica[] | undefined;
  /** Status of the prober that has responded, without its shoots. */
  readonly prober: Omit<ProberStatus, 'shoots'> | undefined;
  /** Shoots, the worst first. From objects only those that are held or paused. */
  readonly shoots: readonly ShootStatus[];
  /** Number of shoots in the seed, or of requested shoots. */
  readonly total: number;
  /** Reasons why the status is incomplete, a sentence each. */
  readonly problems: readonly string[];
  /** What is wrong with the prober or the whole seed, a sentence each. */
  readonly attention: readonly string[];
  readonly exitCode: StatusExitCode;
}
