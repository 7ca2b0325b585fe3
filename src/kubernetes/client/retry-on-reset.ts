import type { Kube, KubeRequest } from '../api/kube.ts';
import { isResetBeforeAnswer } from '../transport/index.ts';

/**
 * Retries a request once if its connection broke before a response: the server may have closed an idle connection in the very moment
 * it was used. Applies to reads and to writes that are `repeatable`. The transport drops its idle connections on a reset, so the
 * retry uses a new one.
 */
export const retryOnReset = (kube: Kube): Kube => ({
  request: async (request: KubeRequest) => {
    try {
      return await kube.request(request);
    } catch (error) {
      const repeatable = request.method === 'GET' || request.repeatable === true;
      if (!repeatable || request.signal.aborted || !isResetBeforeAnswer(error)) throw error;
      return kube.request(request);
    }
  },
});
