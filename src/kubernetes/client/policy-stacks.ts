/*
 * The policies of every request, outermost first. A component's write passes `fenceWrites`, `limitedStack` and `clusterStack`, its reads and watches
 * the last two, the renewal of a Lease only the last; a request of a command passes `retryThrottled` and `clusterStack`. Below all stacks is a transport;
 * the Lease has its own (src/process/connections.ts).
 */

import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import { type Credentials, staticCredentials, withCredentials } from './auth.ts';
import { type RateLimiter, withRateLimit } from './rate-limit.ts';
import { retryOnReset } from './retry-on-reset.ts';
import { retryThrottled } from './retry-throttled.ts';
import { logWarnings } from './warnings.ts';
import type { WriteTracker } from './write-tracker.ts';

/** Stack for the requests of a process. `writes` tracks writes, which must end before the Lease is released; absent without writes or without a Lease. */
export const limitedStack = (
  cluster: Kube,
  { clock, limiter, writes }: { readonly clock: Clock; readonly limiter: RateLimiter; readonly writes?: WriteTracker },
): Kube => retryThrottled(withRateLimit(writes?.track(cluster) ?? cluster, limiter, clock), clock);

/** Stack for requests to the seed or the garden. */
export const clusterStack = (
  transport: Kube,
  { logger, credentials }: { readonly logger: Logger; readonly credentials: Credentials },
): Kube => logWarnings(withCredentials(retryOnReset(transport), credentials), logger);

/** The only stack for requests to a shoot. `kept` is true if connections of earlier runs are used, which the server may have closed. */
export const shootStack = (
  transport: Kube,
  { authorization, kept }: { readonly authorization: string | undefined; readonly kept: boolean },
): Kube => withCredentials(kept ? retryOnReset(transport) : transport, staticCredentials(authorization));

/** Sends every request with the same priority. */
export const withPriority = (kube: Kube, priority: NonNullable<KubeRequest['priority']>): Kube => ({
  request: (request) => kube.request({ ...request, priority }),
});
