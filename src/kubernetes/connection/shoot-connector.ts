import type { Clock } from '../../ports/clock.ts';
import type { ShootConnector, ShootPolicy } from '../api/shoot-connection.ts';
import { BodyBudget, createKubeClient, longestRetryAfterMs, shootStack } from '../client/index.ts';
import { createTransport } from '../transport/index.ts';
import { type KubeconfigCache, createKubeconfigCache } from './kubeconfig-cache.ts';

/** Maximum size in bytes of an object, alone or in a list: JSON.parse blocks for it, a few milliseconds at worst. A node has 12 to 25 KB. */
const objectBytes = 256 * 1024;
/** Memory in bytes for the incoming bodies of all shoots; one body holds less than 1 MiB, because a list is read item by item. */
const bodiesBytes = 64 * 1024 * 1024;

/** Timeout of a kubelet's TLS handshake (TLSHandshakeTimeout in k8s.io/client-go/transport/cache.go). */
const connectTimeoutMs = 10_000;

export interface ShootConnectorOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Cache that may be shared with other connectors. Default: a new one, without proxies of an environment. */
  readonly known?: KubeconfigCache;
  /**
   * True if a connection is used for more than one run. The server may have closed it meanwhile, so a request over such a connection is retried
   * over a new one. Default false: the result of a probe must not depend on an earlier probe.
   */
  readonly kept?: boolean;
}

/**
 * Creates a connector to shoots: one TCP connection per run, shared by the run's requests one after the other, and never used again
 * unless it is `kept`. The TLS session of the last run is resumed as long as the text of the kubeconfig is the same.
 * The connection itself opens in transport/dial.ts.
 */
export const createShootConnector = (options: ShootConnectorOptions): ShootConnector => {
  const budget = new BodyBudget(bodiesBytes);
  const { clock, userAgent, known = createKubeconfigCache(), kept = false } = options;
  return {
    clientFor: (kubeconfig, policy) => {
      const { endpoint, security, authorization, target } = known.lookUp(kubeconfig, policy);
      const transport = createTransport({
        endpoint,
        security: async () => security,
        clock,
        userAgent,
        target,
        maxConnections: 1,
        connectTimeoutMs,
      });
      const kube = shootStack(transport, { authorization, kept });
      const client = createKubeClient({
        kube,
        clock,
        objectBytes,
        budget,
        longestRetryAfterMs: longestRetryAfterMs.shoot,
      });
      return { client, server: `${endpoint.host}:${String(endpoint.port)}`, close: () => transport.close() };
    },
  };
};

/** Applies the policy of the current configuration to a connector, which outlives configurations. */
export const withShootPolicy = (connector: ShootConnector, policy: ShootPolicy): ShootConnector => ({
  clientFor: (kubeconfig) => connector.clientFor(kubeconfig, policy),
});
