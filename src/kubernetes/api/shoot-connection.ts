import type { KubeClient } from './kube.ts';

/** Connections to one shoot's API server, for one run unless the connector keeps them (`kept`). They may resume TLS sessions of earlier runs. */
export interface ShootConnection {
  readonly client: KubeClient;
  /** Host and port of the API server, for people. Absent: not known. */
  readonly server?: string | undefined;
  /** Closes the connections; requests in flight fail. */
  close(): void;
}

/** The operator's policy for the kubeconfigs of shoots. */
export interface ShootPolicy {
  /** True if `server` may be `http://`, which anybody on the network path can read and change. Default false. */
  readonly allowInsecureShoots?: boolean | undefined;
}

export interface ShootConnector {
  /**
   * Returns a client that connects with its first request. `kubeconfig` is data from the cluster and so untrusted: throws a KubeconfigError
   * that names the field if anything in it is refused or malformed.
   */
  clientFor(kubeconfig: string, policy?: ShootPolicy): ShootConnection;
}
