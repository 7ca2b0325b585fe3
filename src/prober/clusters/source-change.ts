import { type LifecycleDecision, type ReleasePolicy, restoresLess } from './lifecycle.ts';
import type { ProberSettings } from '../config/settings.ts';

const policyOf = (gone: LifecycleDecision): ReleasePolicy => (gone.kind === 'stop' ? gone.releasePolicy : 'nothing');

/**
 * Decides the release of held resources of a cluster that a changed configuration no longer finds: the policy of the two sources that restores more, because
 * the cluster may still exist, and nobody else would restore its resources. `former` is absent at the start of a process.
 */
export const decideAfterSourceChange = (
  former: LifecycleDecision | undefined,
  current: LifecycleDecision,
): LifecycleDecision => {
  if (former === undefined || former === current) return current;
  const [one, other] = [policyOf(former), policyOf(current)];
  const releasePolicy = restoresLess(one, other) ? other : one;
  return { kind: 'stop', releasePolicy, reason: 'the changed configuration does not find its cluster any more' };
};

/** Settings that determine the clusters that a configuration finds. */
type Finds = Pick<ProberSettings, 'clusterSource' | 'kubeConfigSecretName'>;

/** True if two configurations find the same clusters. With a label selector for Secrets, `kubeConfigSecretName` is that selector. */
export const findsSameClusters = (former: Finds, current: Finds): boolean =>
  (former.clusterSource === undefined) === (current.clusterSource === undefined) &&
  former.kubeConfigSecretName === current.kubeConfigSecretName;
