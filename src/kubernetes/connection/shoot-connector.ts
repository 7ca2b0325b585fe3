import type { Clock } from '../../ports/clock.ts';
import type { ShootConnector } from '../api/shoot-connection.ts';
import { BodyBudget, createKubeClient, longestRetryAfterMs, shootStack } from '../client/index.ts';
import { createTransport } from '../transport/index.ts';
import { type KubeconfigCache, createKubeconfigCache } from './kubeconfig-cache.ts';

/** Most bytes of an object, alone or in a list: JSON.parse takes it in one go, a few milliseconds at worst. A node has 12 to 25 KB. */
const objectBytes = 256 * 1024;
/** Most bytes of all shoots' bodies that come in at the same time; one holds less than 1 MiB, as a list is read item by item. */
const bodiesBytes = 64 * 1024 * 1024;

/** No kubelet waits longer for the handshake (TLSHandshakeTimeout in k8s.io/client-go/transport/cache.go). */
const connectTimeoutMs = 10_000;

export interface ShootConnectorOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Default: its own. */
  readonly known?: KubeconfigCache;
  /**
   * A connection is used for more than one run, so that the server may have closed it meanwhile: a request that met such a one is repeated
   * over a new one. Default false: what a probe finds must not depend on an earlier one.
   */
  readonly kept?: boolean;
}

/**
 * Connections to shoots: one TCP connection per run, shared by the run's requests one after the other, and never used again
 * unless it is `kept`; the TLS session of the last run is resumed as long as the kubeconfig is the same text.
 */
export const createShootConnector = (options: ShootConnectorOptions): ShootConnector => {
  const budget = new BodyBudget(bodiesBytes);
  const { clock, userAgent, known = createKubeconfigCache(), kept = false } = options;
  return {
    clientFor: (kubeconfig, policy) => {
      const { shoot, security } = known.lookUp(kubeconfig, policy);
      const transport = createTransport({
        endpoint: shoot.endpoint,
        security: async () => security,
        clock,
        userAgent,
        target: 'API server of the kubeconfig',
        maxConnections: 1,
        connectTimeoutMs,
      });
      const kube = shootStack(transport, { authorization: shoot.authorization, kept });
      const client = createKubeClient({
        kube,
        clock,
        objectBytes,
        budget,
        longestRetryAfterMs: longestRetryAfterMs.shoot,
      });
      return { client, close: () => transport.close() };
    },
  };
};
