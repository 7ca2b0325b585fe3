import type { Kube, KubeRequest } from '../api/kube.ts';
import { isResetBeforeAnswer } from '../transport/index.ts';

/**
 * Repeats a request once when its connection broke before an answer came: an idle connection may have been closed by the server in the
 * very moment it was used. Reads, and writes that say they are repeatable. The transport drops its idle connections on a reset, so the
 * second try goes over a new one.
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
