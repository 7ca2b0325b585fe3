import type { PoolConditions } from '../../gardener/candidate-nodes.ts';

/** What a prober derives from its shoot; a change takes effect with the next run. */
export interface ShootSettings {
  readonly poolConditions: PoolConditions;
  /** The shoot's own node monitor grace period, in milliseconds. */
  readonly nodeMonitorGraceMs?: number;
}

/**
 * What a stopped prober does with resources that carry its mark: `restore` them (no node is left that could be harmed), `release` them
 * (the mark is removed and the count left to its owner: Gardener keeps a count at 0 as long as the mark is there), or nothing.
 */
export type ReleasePolicy = 'restore' | 'release' | 'nothing';

const releaseRank: Readonly<Record<ReleasePolicy, number>> = { nothing: 0, release: 1, restore: 2 };

/** True if `next` gives back less than `current`: what a later Cluster forbids is stopped in the middle, what it allows again is not begun anew. */
export const releasesLess = (next: ReleasePolicy, current: ReleasePolicy): boolean =>
  releaseRank[next] < releaseRank[current];

export type LifecycleDecision =
  | { readonly kind: 'run'; readonly settings: ShootSettings }
  | { readonly kind: 'stop'; readonly releasePolicy: ReleasePolicy; readonly reason: string }
  /** Not started; one that runs is left as it is. */
  | { readonly kind: 'leave'; readonly reason: string };

export const sameSettings = (a: ShootSettings, b: ShootSettings): boolean =>
  a.nodeMonitorGraceMs === b.nodeMonitorGraceMs && describeConditions(a) === describeConditions(b);

const describeConditions = ({ poolConditions }: ShootSettings): string =>
  JSON.stringify([...poolConditions].map(([pool, types]) => [pool, [...types].sort()]).sort());
