import type { SimObject } from '../../src/sim/index.ts';
import type { Traffic } from '../support/traffic.ts';

/** What the process that serves some of the shoots is started with. */
export interface ShootsInit {
  /** Of the first shoot; the others follow it. */
  readonly first: number;
  readonly shoots: number;
  readonly nodes: number;
  /** With what their health is read from. */
  readonly careObjects: boolean;
  /** Where it writes its Doors. */
  readonly doors: string;
  /** Where it writes its SeedObjects. */
  readonly objects: string;
}

/** The door to a shoot that is kept for the floor. */
export interface Door {
  readonly port: number;
  readonly authorization: string;
}

export interface Doors {
  /** PEM. */
  readonly ca: string;
  readonly doors: readonly Door[];
}

/** What the seed holds of the shoots, by the name of its kind. */
export type SeedObjects = Readonly<Record<string, readonly SimObject[]>>;

export interface ShootsReport {
  /** Of the target. */
  readonly traffic: Traffic;
  /** Of the target: lists of leases, of the shoot that has had the fewest. */
  readonly fewestProbes: number;
  readonly floor: Traffic;
}

export type ShootsAnswer = { readonly order: 'ready' } | { readonly order: 'report'; readonly report: ShootsReport };

export type SeedAnswer =
  | { readonly order: 'ready'; readonly kubeconfig: string }
  | { readonly order: 'report'; readonly traffic: Traffic };

/** What the floor is started with. */
export interface FloorInit {
  /** Of Doors. */
  readonly files: readonly string[];
  readonly intervalMs: number;
}

/** The request that there is once in a probe, and in a run of care. */
export const probeKind = 'list leases';
