import type { PoolConditions } from '../../gardener/candidate-nodes.ts';

/** Settings that a prober derives from its shoot. A change takes effect with the next run. */
export interface ShootSettings {
  readonly poolConditions: PoolConditions;
  /** The shoot's own node monitor grace period, in milliseconds. */
  readonly nodeMonitorGraceMs?: number;
}

/**
 * Action of a stopped prober on resources that carry its mark. `restore`: scales them up (no node is left that could be harmed). `release`: removes the mark
 * and leaves the replica count to its owner (Gardener keeps a count of 0 as long as the mark is there). `nothing`: leaves them.
 */
export type ReleasePolicy = 'restore' | 'release' | 'nothing';

const releaseRank: Readonly<Record<ReleasePolicy, number>> = { nothing: 0, release: 1, restore: 2 };

/**
 * True if `next` restores less than `current`. A release in progress stops when a later state of the Cluster forbids it, and does not restart when one allows it
 * again.
 */
export const restoresLess = (next: ReleasePolicy, current: ReleasePolicy): boolean =>
  releaseRank[next] < releaseRank[current];

export type LifecycleDecision =
  | { readonly kind: 'run'; readonly settings: ShootSettings }
  | { readonly kind: 'stop'; readonly releasePolicy: ReleasePolicy; readonly reason: string }
  /** No prober is started; a running one continues unchanged. */
  | { readonly kind: 'leave'; readonly reason: string };

export const sameSettings = (a: ShootSettings, b: ShootSettings): boolean =>
  a.nodeMonitorGraceMs === b.nodeMonitorGraceMs && describeConditions(a) === describeConditions(b);

const describeConditions = ({ poolConditions }: ShootSettings): string =>
  JSON.stringify([...poolConditions].map(([pool, types]) => [pool, [...types].sort()]).sort());
