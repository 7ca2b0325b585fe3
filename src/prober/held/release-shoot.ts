import type { LifecycleDecision, ReleasePolicy } from '../judge/lifecycle.ts';
import type { ShootProberDeps } from '../shoot-deps.ts';
import { ShootProber } from '../shoot-prober.ts';

export interface ShootRelease {
  readonly cluster: string;
  readonly releasePolicy: Exclude<ReleasePolicy, 'nothing'>;
  /** For log and Events. */
  readonly reason: string;
}

/**
 * What giving back means for a shoot at an operator's request: the former counts, but only our mark where a count is Gardener's to say, as of a
 * hibernated shoot. What a cluster that is gone has left behind is restored.
 */
export const releasePolicyOnRequest = (decision: LifecycleDecision): ShootRelease['releasePolicy'] =>
  decision.kind === 'stop' && decision.releasePolicy === 'release' ? 'release' : 'restore';

/** Gives back what is held in one shoot, in order, as a prober does that ends: one that never probes. */
export const releaseShoot = (
  deps: ShootProberDeps,
  { cluster, releasePolicy, reason }: ShootRelease,
): Promise<'done' | 'failed'> => {
  const settings = { poolConditions: new Map() };
  const prober = new ShootProber(deps, { cluster, settings, first: { delayMs: Number.POSITIVE_INFINITY } });
  return prober.stop(releasePolicy, reason);
};
