import type { KubeClient } from './kube.ts';

/** Connections to one shoot's API server, for one run unless the connector is `kept`. TLS sessions of earlier runs may be resumed. */
export interface ShootConnection {
  readonly client: KubeClient;
  /** Closes the connections; requests under way fail. */
  close(): void;
}

/** What the operator allows of the kubeconfigs of shoots. */
export interface ShootPolicy {
  /** Whether `server` may be `http://`, which anybody on the way can read and change. Default false. */
  readonly allowInsecureShoots?: boolean | undefined;
}

export interface ShootConnector {
  /**
   * Opens nothing: the first request of the client connects. `kubeconfig` is data from the cluster and so untrusted: throws a KubeconfigError
   * that names the field for anything refused or broken.
   */
  clientFor(kubeconfig: string, policy?: ShootPolicy): ShootConnection;
}
