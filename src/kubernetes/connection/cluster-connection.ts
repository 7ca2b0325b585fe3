import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { clusterStack } from '../client/index.ts';
import type { ClusterAccess } from '../kubeconfig/index.ts';
import { type Transport, authority, createTransport } from '../transport/index.ts';

export interface ClusterConnectionOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
}

/** Connects to the operator's cluster (the seed) over pooled connections, with its policies. */
export const connectCluster = ({ access, clock, logger, userAgent }: ClusterConnectionOptions): Transport => {
  const { endpoint, security, credentials } = access;
  const { proxy } = endpoint;
  const target = proxy && `${authority(endpoint)} through the proxy ${authority(proxy)}`;
  const transport = createTransport({ endpoint, security, clock, userAgent, target });
  const kube = clusterStack(transport, { logger, credentials });
  return { request: (request) => kube.request(request), close: () => transport.close() };
};
