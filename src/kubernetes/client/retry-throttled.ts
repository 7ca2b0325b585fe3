import type { Clock } from '../../ports/clock.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest, KubeResponse } from '../api/kube.ts';
import { longestRetryAfterMs, parseRetryAfter } from './retry-after.ts';

/** As client-go (`rest/request.go`, maxRetries is 10 there). */
const mostRetries = 5;

/**
 * The wait that the server asks for, in milliseconds, when the request may be sent again after it: a 429 says that it was refused, but behind
 * a 5xx a write may have landed.
 */
const askedWaitMs = (request: KubeRequest, response: KubeResponse, clock: Clock): number | undefined => {
  const { status } = response;
  if (status !== 429 && status < 500) return undefined;
  const repeatable = status === 429 || request.method === 'GET' || request.repeatable === true;
  if (!repeatable) return undefined;
  return parseRetryAfter(response.headers['retry-after'], { now: clock.now(), longestMs: longestRetryAfterMs.seed });
};

/**
 * Frees the connection. A request with a deadline reads the few hundred bytes, so that the connection can be used again; without one,
 * nothing would end a body that stops arriving.
 */
const discard = async ({ body }: KubeResponse, timeoutMs: number | undefined): Promise<void> => {
  const chunks = body[Symbol.asyncIterator]();
  if (timeoutMs === undefined) {
    await chunks.return?.();
    return;
  }
  try {
    while ((await chunks.next()).done !== true);
  } catch {
    // The answer is known, and an abort shows right after.
  }
};

const mentionRetries = (error: unknown, retries: number, status: number): unknown => {
  if (!(error instanceof ApiError)) return error;
  const { code, status: own, retryAfterMs, cause } = error;
  return new ApiError({
    code,
    message: `${error.message} (retry ${retries}; before it the server answered ${status} with Retry-After)`,
    ...(own === undefined ? {} : { status: own }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(cause === undefined ? {} : { cause }),
  });
};

const lateAnswer = ({ method, path, timeoutMs }: KubeRequest, status: number): ApiError =>
  new ApiError({
    code: 'Timeout',
    message: `${method} ${path}: the answer ${status} was not complete within ${timeoutMs ?? 0} ms`,
  });

/**
 * Waits and tries again when the server answers 429 or 5xx with `Retry-After`: at least that long, at most 5 times, and not beyond the
 * request's own deadline, which covers all tries. Then the last answer goes through. Without `Retry-After` nothing is retried.
 */
export const retryThrottled = (kube: Kube, clock: Clock): Kube => ({
  request: async (request) => {
    const { signal, timeoutMs } = request;
    if (request.once === true) return kube.request(request);
    const deadline = clock.monotonic() + (timeoutMs ?? Number.POSITIVE_INFINITY);
    let response = await kube.request(request);
    for (let retries = 1; retries <= mostRetries; retries += 1) {
      const waitMs = askedWaitMs(request, response, clock);
      if (waitMs === undefined) return response;
      const retryAt = clock.monotonic() + waitMs;
      if (retryAt >= deadline) return response;
      await discard(response, timeoutMs);
      await clock.sleep(retryAt - clock.monotonic(), signal);
      const leftMs = deadline - clock.monotonic();
      if (leftMs <= 0) throw lateAnswer(request, response.status);
      try {
        response = await kube.request(timeoutMs === undefined ? request : { ...request, timeoutMs: leftMs });
      } catch (error) {
        throw signal.aborted ? error : mentionRetries(error, retries, response.status);
      }
    }
    return response;
  },
});
