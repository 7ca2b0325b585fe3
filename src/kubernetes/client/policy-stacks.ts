/*
 * The policies of every request, outermost first. A component's write passes `writerStack`, `limitedStack` and `clusterStack`, its reads and watches
 * the last two, the renewal of a Lease only the last. Below all stacks is a transport; the Lease has its own (src/process/connections.ts).
 */

import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Kube, KubeRequest } from '../api/kube.ts';
import type { Leadership } from '../api/leadership.ts';
import { type Credentials, staticCredentials, withCredentials } from './auth.ts';
import { fenceWrites } from './fence-writes.ts';
import { type RateLimiter, withRateLimit } from './rate-limit.ts';
import { retryOnReset } from './retry-on-reset.ts';
import { retryThrottled } from './retry-throttled.ts';
import { logWarnings } from './warnings.ts';
import type { WriteTracker } from './write-tracker.ts';

type Policy = (kube: Kube) => Kube;

const stack = (below: Kube, policies: readonly Policy[]): Kube =>
  policies.reduceRight((kube, policy) => policy(kube), below);

/** Stack for the calls of a component: no write is sent unless this process leads. */
export const writerStack = (limited: Kube, leadership: Leadership): Kube =>
  stack(limited, [(kube) => fenceWrites(kube, leadership)]);

/** Stack for the requests of a process. `writes` tracks writes, which must end before the Lease is released; absent without writes or without a Lease. */
export const limitedStack = (
  cluster: Kube,
  { clock, limiter, writes }: { readonly clock: Clock; readonly limiter: RateLimiter; readonly writes?: WriteTracker },
): Kube =>
  stack(cluster, [
    (kube) => retryThrottled(kube, clock),
    (kube) => withRateLimit(kube, limiter, clock),
    (kube) => writes?.track(kube) ?? kube,
  ]);

/** Stack for the requests of a command, or of a program that uses the health-check library, in place of `limitedStack`. */
export const commandStack = (cluster: Kube, clock: Clock): Kube =>
  stack(cluster, [(kube) => retryThrottled(kube, clock)]);

/** Stack for requests to the seed or the garden. */
export const clusterStack = (
  transport: Kube,
  { logger, credentials }: { readonly logger: Logger; readonly credentials: Credentials },
): Kube =>
  stack(transport, [(kube) => logWarnings(kube, logger), (kube) => withCredentials(kube, credentials), retryOnReset]);

/** The only stack for requests to a shoot. `kept` is true if connections of earlier runs are used, which the server may have closed. */
export const shootStack = (
  transport: Kube,
  { authorization, kept }: { readonly authorization: string | undefined; readonly kept: boolean },
): Kube =>
  stack(transport, [
    (kube) => withCredentials(kube, staticCredentials(authorization)),
    ...(kept ? [retryOnReset] : []),
  ]);

/** Sends every request with the same priority. */
export const withPriority = (kube: Kube, priority: NonNullable<KubeRequest['priority']>): Kube => ({
  request: (request) => kube.request({ ...request, priority }),
});
