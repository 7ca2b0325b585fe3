import type { Clock, Logger } from '../ports/index.ts';
import { withCredentials } from './auth.ts';
import { withDeadline } from './deadline.ts';
import type { ClusterAccess } from './kubeconfig/access.ts';
import { retryOnReset } from './retry-on-reset.ts';
import { createTransport, type Transport } from './transport.ts';
import { logWarnings } from './warnings.ts';

export interface ClusterConnectionOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
}

/** The operator's cluster (the seed) over pooled connections, with the policies that belong to it. */
export const connectCluster = ({ access, clock, logger, userAgent }: ClusterConnectionOptions): Transport => {
  const { endpoint, security, credentials } = access;
  const transport = createTransport({ endpoint, security, clock, userAgent });
  const kube = withDeadline(logWarnings(withCredentials(retryOnReset(transport), credentials), logger), clock);
  return { request: (request) => kube.request(request), close: () => transport.close() };
};
