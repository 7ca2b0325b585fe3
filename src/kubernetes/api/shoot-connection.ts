import type { KubeClient } from './kube.ts';

/** The connections of one probe run to one shoot's API server; nothing of an earlier run is used again. */
export interface ShootConnection {
  readonly client: KubeClient;
  /** Closes the run's connections; requests under way fail. */
  close(): void;
}

/** What the operator allows of the kubeconfigs of shoots. */
export interface ShootPolicy {
  /** Whether `server` may be `http://`, which anybody on the way can read and change. Default false. */
  readonly allowInsecureShoots?: boolean | undefined;
}

export interface ShootConnector {
  /**
   * Opens nothing yet: the first call connects. `kubeconfig` is data from the cluster and so untrusted: throws a KubeconfigError that
   * names the field for anything refused or broken.
   */
  connect(kubeconfig: string, policy?: ShootPolicy): ShootConnection;
}
