import type { PauseInForce, ProbedShoot, ProberStatus } from '../prober/status/index.ts';

/** The leader Lease as it stands. */
export interface LeaderLease {
  /** Empty: nobody leads. */
  readonly holder: string;
  /** RFC 3339. */
  readonly since?: string | undefined;
  /** Its holder has renewed it within its duration, by the API server's clock. */
  readonly isFresh: boolean;
}

/** A pod of the prober. */
export interface Replica {
  readonly pod: string;
  /** What follows the last colon of its image. */
  readonly version: string;
  readonly isReady: boolean;
  /** Of the container's port `health`. */
  readonly healthPort: number;
}

/** What the objects of a seed tell, without a prober. */
export interface SeedObjects {
  /** Undefined where it could not be read. */
  readonly lease: LeaderLease | undefined;
  /** Undefined where they could not be read. */
  readonly replicas: readonly Replica[] | undefined;
  /** What could not be read, in words. */
  readonly problems: readonly string[];
}

/** A shoot as its prober knows it, or as far as objects tell: these do not say since when it is paused. */
export type SeenShoot = Omit<ProbedShoot, 'since'> & Partial<Pick<ProbedShoot, 'since'>>;

/** What is held or paused, as far as objects tell. */
export interface HeldObjects {
  readonly shoots: readonly SeenShoot[];
  /** Namespaces of control planes. */
  readonly total: number;
  /** The pause of all shoots. */
  readonly paused: PauseInForce | null;
  /** Resources that could not be looked for, a sentence each. */
  readonly problems: readonly string[];
}

/** 0: nothing held, and everything probed of late. 1: something is held, or needs eyes. 2: could not tell. */
export type StatusExitCode = 0 | 1 | 2;

/** A seed at one moment, for who operates its prober. */
export interface SeedStatus {
  /** RFC 3339. */
  readonly at: string;
  /** `leader`: what only a running prober knows is in it. */
  readonly source: 'leader' | 'objects';
  readonly lease: LeaderLease | undefined;
  readonly replicas: readonly Replica[] | undefined;
  /** Of the prober that has answered, without its shoots. */
  readonly prober: Omit<ProberStatus, 'shoots'> | undefined;
  /** Worst first. From objects: only what is held or paused. */
  readonly shoots: readonly SeenShoot[];
  /** Shoots of the seed, or those that were asked for. */
  readonly total: number;
  /** Why less is known than could be, a sentence each. */
  readonly problems: readonly string[];
  /** What needs eyes besides the shoots that are not healthy, a sentence each. */
  readonly attention: readonly string[];
  readonly exitCode: StatusExitCode;
}
