import type { ShootPolicy } from './shoot-connection.ts';

/** A port of a shoot's pod, and the policy for the shoot's kubeconfig. */
export interface TunnelTarget extends ShootPolicy {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** Connects to pods of a shoot through its API server (`pods/portforward`). */
export interface TunnelConnector {
  /**
   * Resolves once the connection was established, and closes it again. `kubeconfig` is data from the cluster and so untrusted. Rejects with an ApiError,
   * with a KubeconfigError for a kubeconfig that is refused or malformed, and with `signal.reason` on abort.
   */
  connect(kubeconfig: string, target: TunnelTarget, signal: AbortSignal): Promise<void>;
}
