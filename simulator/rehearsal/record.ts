import type { RequestCounts } from '../network/index.ts';
import type { ShootImpact } from '../world/index.ts';

/** A change of a dependent resource's replicas. Times: monotonic milliseconds. */
export interface CountChange {
  readonly at: number;
  readonly shoot: string;
  /** `refKey` of the resource, as it is configured. */
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** A shoot that the fault affects, at the beginning of the outage. */
export interface AffectedShoot {
  readonly shoot: string;
  /** Times of the last renewals of the leases of nodes that are cut off, ascending. */
  readonly renewals: readonly number[];
  readonly nodes: number;
}

/** The record of one run. */
export interface RehearsalRecord {
  readonly struck: readonly AffectedShoot[];
  readonly changes: readonly CountChange[];
  readonly impacts: ReadonlyMap<string, ShootImpact>;
  readonly requests: {
    /** Number of requests by `verb resource`. */
    readonly seed: ReadonlyMap<string, number>;
    readonly shoots: ReadonlyMap<string, number>;
  };
  readonly endedAt: number;
}

/** Adds up request counts. */
export const sumCounts = (counts: readonly RequestCounts[]): ReadonlyMap<string, number> => {
  const sum = new Map<string, number>();
  for (const { byKey } of counts) for (const [key, count] of byKey) sum.set(key, (sum.get(key) ?? 0) + count);
  return sum;
};

/** Returns the resources that are scaled down after the changes, each as its shoot and its key. */
export const heldAfter = (changes: readonly CountChange[]): ReadonlySet<string> => {
  const held = new Set<string>();
  for (const { shoot, key, to } of changes) {
    if (to === 0) held.add(`${shoot} ${key}`);
    else held.delete(`${shoot} ${key}`);
  }
  return held;
};
