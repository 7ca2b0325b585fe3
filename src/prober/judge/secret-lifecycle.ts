import type { LifecycleDecision } from './lifecycle.ts';

/** What a seed shows of a cluster that goes by the Secret with its kubeconfig. */
export interface SecretCluster {
  /** `missed`: it was there a moment ago, and may come back. */
  readonly secret: 'there' | 'missed' | 'gone';
  readonly namespaceDeleting: boolean;
  /** Resources of it are in another namespace, which is not deleted with its own. */
  readonly holdsElsewhere: boolean;
}

/** Nobody else would bring up what is held. */
export const secretGone: LifecycleDecision = {
  kind: 'stop',
  releasePolicy: 'restore',
  reason: 'the Secret with its kubeconfig is gone',
};

/** Decides if such a cluster is probed. */
export const decideSecretLifecycle = ({
  secret,
  namespaceDeleting,
  holdsElsewhere,
}: SecretCluster): LifecycleDecision => {
  if (namespaceDeleting) {
    // Without its mark, what lives on elsewhere would stay at 0 for good: nobody would know it for ours when the Namespace is gone.
    const releasePolicy = holdsElsewhere ? 'restore' : 'release';
    return { kind: 'stop', releasePolicy, reason: 'its namespace is being deleted' };
  }
  switch (secret) {
    case 'there':
      return { kind: 'run', settings: { poolConditions: new Map() } };
    case 'missed':
      return { kind: 'leave', reason: 'the Secret with its kubeconfig has just gone' };
    case 'gone':
      return secretGone;
  }
};
