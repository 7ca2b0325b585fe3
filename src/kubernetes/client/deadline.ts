import type { Clock } from '../../ports/clock.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeResponse } from '../api/kube.ts';
import { type Scope, createScope } from './scope.ts';

/** The body with `scope` ended when it is read or abandoned. */
const bodyWithin = (body: KubeResponse['body'], scope: Scope): KubeResponse['body'] => ({
  [Symbol.asyncIterator]: () => {
    const chunks = body[Symbol.asyncIterator]();
    return {
      next: async () => {
        try {
          const chunk = await chunks.next();
          if (chunk.done === true) scope.end();
          return chunk;
        } catch (error) {
          scope.end();
          throw error;
        }
      },
      return: async () => {
        scope.end();
        await chunks.return?.();
        return { done: true, value: undefined };
      },
    };
  },
});

/**
 * Holds the wrappers below to `timeoutMs` as a whole: getting credentials, a second try and both answers share it, where each exchange alone
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
      return { ...response, body: bodyWithin(response.body, scope) };
    } catch (error) {
      scope.end();
      throw error;
    }
  },
});
