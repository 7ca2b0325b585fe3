import { type LifecycleDecision, type ReleasePolicy, releasesLess } from './lifecycle.ts';
import type { ProberSettings } from '../settings.ts';

const policyOf = (gone: LifecycleDecision): ReleasePolicy => (gone.kind === 'stop' ? gone.releasePolicy : 'nothing');

/**
 * What becomes of what is held of a cluster that a changed configuration does not find any more: what either source gives back of one that is gone. Nothing was
 * taken away with it but the watch over it, so that nobody else would restore it. `former` is absent at the start of a process.
 */
export const decideAfterSourceChange = (
  former: LifecycleDecision | undefined,
  now: LifecycleDecision,
): LifecycleDecision => {
  if (former === undefined || former === now) return now;
  const [one, other] = [policyOf(former), policyOf(now)];
  const releasePolicy = releasesLess(one, other) ? other : one;
  return { kind: 'stop', releasePolicy, reason: 'the changed configuration does not find its cluster any more' };
};

/** What decides which clusters a configuration finds. */
type Finds = Pick<ProberSettings, 'clusterSource' | 'kubeConfigSecretName'>;

/** Whether two configurations find the same clusters. Where Secrets go by a selector, that is their name in the settings. */
export const findsAlike = (former: Finds, now: Finds): boolean =>
  former.clusterSource?.kind === now.clusterSource?.kind && former.kubeConfigSecretName === now.kubeConfigSecretName;
