import type { PauseInForce, ProbedShoot, ProberStatus } from '../prober/status/index.ts';

/** State of the leader Lease. */
export interface LeaderLease {
  /** Identity of the leader. Empty if there is none. */
  readonly holder: string;
  /** Start of the leadership, in RFC 3339. */
  readonly since?: string | undefined;
  /** True if the holder has renewed the Lease within its duration, by the API server's clock. */
  readonly isFresh: boolean;
}

/** A pod of the prober. */
export interface Replica {
  readonly pod: string;
  /** Tag of its image: the text after the last colon. */
  readonly version: string;
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

/** A shoot as its prober reports it, or as objects show it, which do not record the start of a pause. */
export type SeenShoot = Omit<ProbedShoot, 'since'> & Partial<Pick<ProbedShoot, 'since'>>;

/** Held resources and pauses that objects show. */
export interface HeldObjects {
  readonly shoots: readonly SeenShoot[];
  /** Number of clusters in the seed. */
  readonly total: number;
  /** The pause of all shoots. */
  readonly paused: PauseInForce | null;
  /** Reads that failed, a sentence each. */
  readonly problems: readonly string[];
}

/** 0: nothing is held, and all shoots were probed recently. 1: something is held or needs attention. 2: the state is unknown. */
export type StatusExitCode = 0 | 1 | 2;

/** Status of a seed at one time, for the operator of its prober. */
export interface SeedStatus {
  /** Time of the status, in RFC 3339. */
  readonly at: string;
  /** `leader` if a running prober has responded, `objects` if only objects were read. */
  readonly source: 'leader' | 'objects';
  readonly lease: LeaderLease | undefined;
  readonly replicas: readonly Replica[] | undefined;
  /** Status of the prober that has responded, without its shoots. */
  readonly prober: Omit<ProberStatus, 'shoots'> | undefined;
  /** Shoots, the worst first. From objects only those that are held or paused. */
  readonly shoots: readonly SeenShoot[];
  /** Number of shoots in the seed, or of requested shoots. */
  readonly total: number;
  /** Reasons why the status is incomplete, a sentence each. */
  readonly problems: readonly string[];
  /** Problems that need attention besides the shoots that are not healthy, a sentence each. */
  readonly attention: readonly string[];
  readonly exitCode: StatusExitCode;
}
