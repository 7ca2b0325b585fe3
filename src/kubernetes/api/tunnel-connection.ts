import type { ShootPolicy } from './shoot-connection.ts';

/** A port of a shoot's pod, and what the operator allows the kubeconfig that leads there. */
export interface TunnelTarget extends ShootPolicy {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** Ways into a shoot's network: connections to its pods through its API server (`pods/portforward`). */
export interface TunnelConnector {
  /**
   * Resolves when the connection stood, which is closed again. `kubeconfig` is data from the cluster and so untrusted. Rejects with an ApiError,
   * with a KubeconfigError for a kubeconfig that is refused or broken, and with `signal.reason` on abort.
   */
  connect(kubeconfig: string, target: TunnelTarget, signal: AbortSignal): Promise<void>;
}
