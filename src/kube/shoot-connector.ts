import type { Clock, ShootConnector } from '../ports/index.ts';
import { staticCredentials, withCredentials } from './auth.ts';
import { createKubeClient } from './client.ts';
import { createKnownShoots, type KnownShoots } from './known-shoots.ts';
import { longestRetryAfterMs } from './retry-after.ts';
import { createTransport } from './transport.ts';

/** A list of 10,000 nodes is about 120 MB. */
const bodyLimitBytes = 256 * 1024 * 1024;

export interface ShootConnectorOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Default: its own. */
  readonly known?: KnownShoots;
}

/**
 * Connections to shoots: one TCP connection per run, shared by the run's requests one after the other, and never used again; the TLS
 * session of the last run is resumed as long as the kubeconfig is the same text.
 */
export const createShootConnector = (options: ShootConnectorOptions): ShootConnector => {
  const { clock, userAgent, known = createKnownShoots() } = options;
  return {
    connect: (kubeconfig) => {
      const { shoot, security } = known.lookUp(kubeconfig);
      const transport = createTransport({
        endpoint: shoot.endpoint,
        security: async () => security,
        clock,
        userAgent,
        target: 'API server of the kubeconfig',
        maxConnections: 1,
      });
      const kube = withCredentials(transport, staticCredentials(shoot.authorization));
      const client = createKubeClient({ kube, clock, bodyLimitBytes, longestRetryAfterMs: longestRetryAfterMs.shoot });
      return { client, close: () => transport.close() };
    },
  };
};
