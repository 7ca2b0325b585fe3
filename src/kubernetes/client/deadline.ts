import type { Clock } from '../../ports/clock.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube } from '../api/kube.ts';
import { createScope } from '../transport/index.ts';
import { followBody } from './follow-body.ts';

/**
 * Applies `timeoutMs` to the inner policies as a whole: loading credentials, a retry and both responses share it. Otherwise each exchange
 * would get all of it.
 */
export const withDeadline = (kube: Kube, clock: Clock): Kube => ({
  request: async (request) => {
    const { timeoutMs, method, path, signal } = request;
    if (timeoutMs === undefined) return kube.request(request);
    const message = `${method} ${path}: not done within ${timeoutMs} ms`;
    const scope = createScope({
      signal,
      clock,
      timeoutMs,
      onTimeout: () => new ApiError({ code: 'Timeout', message }),
    });
    try {
      const response = await kube.request({ ...request, signal: scope.signal });
      return { ...response, body: followBody(response.body, () => scope.end()) };
    } catch (error) {
      scope.end();
      throw error;
    }
  },
});
