import type { RequestCounts } from '../network/index.ts';
import type { ShootImpact } from '../world/index.ts';

/** A change of a dependent resource's count; one that is annotated counts 0 while the annotation is there, and else 1. Times are monotonic milliseconds. */
export interface CountChange {
  readonly at: number;
  readonly shoot: string;
  /** `refKey` of the resource, as it is configured. */
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** A shoot that the fault strikes, as the outage begins. */
export interface StruckShoot {
  readonly shoot: string;
  /** When the nodes that are cut off have last renewed their leases, ascending. */
  readonly renewals: readonly number[];
  readonly nodes: number;
}

/** What happened in one run. */
export interface RehearsalRecord {
  readonly struck: readonly StruckShoot[];
  readonly changes: readonly CountChange[];
  readonly impacts: ReadonlyMap<string, ShootImpact>;
  readonly requests: {
    /** By `verb resource`. */
    readonly seed: ReadonlyMap<string, number>;
    readonly shoots: ReadonlyMap<string, number>;
  };
  readonly endedAt: number;
}

/** Requests of several lines together. */
export const sumCounts = (counts: readonly RequestCounts[]): ReadonlyMap<string, number> => {
  const sum = new Map<string, number>();
  for (const { byKey } of counts) for (const [key, count] of byKey) sum.set(key, (sum.get(key) ?? 0) + count);
  return sum;
};

/** By shoot and resource, what is scaled down. */
export const heldAfter = (changes: readonly CountChange[]): ReadonlySet<string> => {
  const held = new Set<string>();
  for (const { shoot, key, to } of changes) {
    if (to === 0) held.add(`${shoot} ${key}`);
    else held.delete(`${shoot} ${key}`);
  }
  return held;
};
