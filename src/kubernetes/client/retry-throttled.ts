import type { Clock } from '../../ports/clock.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeRequest, KubeResponse } from '../api/kube.ts';
import { longestRetryAfterMs, parseRetryAfter } from './status-error.ts';

/** Maximum number of retries; client-go has 10 (`rest/request.go`, maxRetries). */
const mostRetries = 5;

/**
 * Returns the requested wait in milliseconds if the request may be sent again after it: a 429 means that it was refused, but a write may have taken effect
 * despite a 5xx.
 */
const askedWaitMs = (request: KubeRequest, response: KubeResponse): number | undefined => {
  const { status } = response;
  if (status !== 429 && status < 500) return undefined;
  const repeatable = status === 429 || request.method === 'GET' || request.repeatable === true;
  if (!repeatable) return undefined;
  return parseRetryAfter(response.headers['retry-after'], longestRetryAfterMs.seed);
};

/**
 * Frees the connection. With a timeout, reads the few hundred bytes of the body so that the connection can be used again. Without one,
 * abandons the body, because nothing would end one that stops arriving.
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
    // The status is known, and the sleep that follows rejects on an abort.
  }
};

const mentionRetries = (error: unknown, retries: number, status: number): unknown => {
  if (!(error instanceof ApiError)) return error;
  const { code, status: own, retryAfterMs, cause } = error;
  return new ApiError({
    code,
    message: `${error.message} (retry ${retries}; before it the server answered ${status} with Retry-After)`,
    status: own,
    retryAfterMs,
    cause,
  });
};

const lateAnswer = ({ method, path, timeoutMs }: KubeRequest, status: number): ApiError =>
  new ApiError({
    code: 'Timeout',
    message: `${method} ${path}: the answer ${status} was not complete within ${timeoutMs ?? 0} ms`,
  });

/**
 * Waits and retries if the server responds with 429 or 5xx and `Retry-After`: after at least that time, at most 5 times, and not beyond the
 * request's own timeout, which covers all attempts. Then it returns the last response. Without `Retry-After` it does not retry.
 */
export const retryThrottled = (kube: Kube, clock: Clock): Kube => ({
  request: async (request) => {
    const { signal, timeoutMs } = request;
    if (request.noRetry === true) return kube.request(request);
    const deadline = clock.monotonic() + (timeoutMs ?? Number.POSITIVE_INFINITY);
    let response = await kube.request(request);
    for (let retries = 1; retries <= mostRetries; retries += 1) {
      const waitMs = askedWaitMs(request, response);
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
