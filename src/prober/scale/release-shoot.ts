import type { LifecycleDecision, ReleasePolicy } from '../clusters/lifecycle.ts';
import type { ShootProberDeps } from '../shoot-deps.ts';
import { ShootProber } from '../shoot.ts';

export interface ShootRelease {
  readonly cluster: string;
  readonly releasePolicy: Exclude<ReleasePolicy, 'nothing'>;
  /** For log and Events. */
  readonly reason: string;
}

/**
 * Returns the policy of a release at an operator's request: it restores the former counts, but removes only our mark if the count is Gardener's, as in a
 * hibernated shoot. Resources of a deleted cluster are restored.
 */
export const releasePolicyOnRequest = (decision: LifecycleDecision): ShootRelease['releasePolicy'] =>
  decision.kind === 'stop' && decision.releasePolicy === 'release' ? 'release' : 'restore';

/** Releases the held resources of one shoot in order, with a prober that never probes and only stops. */
export const releaseShoot = (
  deps: ShootProberDeps,
  { cluster, releasePolicy, reason }: ShootRelease,
): Promise<'done' | 'failed'> => {
  const settings = { poolConditions: new Map() };
  const prober = new ShootProber(deps, { cluster, settings, first: { delayMs: Number.POSITIVE_INFINITY } });
  return prober.stop({ policy: releasePolicy, reason });
};
