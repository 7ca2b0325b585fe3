import type { LifecycleDecision } from './lifecycle.ts';

/** State, in the seed, of a cluster that is found by the Secret with its kubeconfig. */
export interface SecretCluster {
  /** `missing`: it existed a moment ago, and may be created again. */
  readonly secret: 'there' | 'missing' | 'gone';
  readonly namespaceDeleting: boolean;
  /** True if the cluster has dependent resources in other namespaces, which are not deleted with its own. */
  readonly holdsElsewhere: boolean;
}

/** Restores held resources, because nobody else would. */
export const secretGone: LifecycleDecision = {
  kind: 'stop',
  releasePolicy: 'restore',
  reason: 'the Secret with its kubeconfig is gone',
};

/** Decides if the cluster is probed. */
export const decideSecretLifecycle = ({
  secret,
  namespaceDeleting,
  holdsElsewhere,
}: SecretCluster): LifecycleDecision => {
  if (namespaceDeleting) {
    // Resources elsewhere would stay at 0 for good: without their mark, and with the Namespace gone, nobody would know that we scaled them.
    const releasePolicy = holdsElsewhere ? 'restore' : 'release';
    return { kind: 'stop', releasePolicy, reason: 'its namespace is being deleted' };
  }
  switch (secret) {
    case 'there':
      return { kind: 'run', settings: { poolConditions: new Map() } };
    case 'missing':
      return { kind: 'leave', reason: 'the Secret with its kubeconfig was deleted a moment ago' };
    case 'gone':
      return secretGone;
  }
};
