import { ApiError } from '../domain/index.ts';
import type { Clock, Kube } from '../ports/index.ts';

/** Of a watch until it is open, its wait for its turn included. kube-apiserver answers before there is an event (`endpoints/handlers/watch.go`). */
const openTimeoutMs = 30_000;

/**
 * Ends a watch that nobody accepts: an API server that fell silent at that moment would blind whoever watches until the watch's own time is up,
 * which is longer than a weeding, and keep its place in the lane as long. Whoever watches waits and tries again by itself.
 */
export const withOpenTimeout = (kube: Kube, clock: Clock): Kube => ({
  request: async (request) => {
    if (request.query?.watch !== 'true') return kube.request(request);
    const { method, path, signal } = request;
    const late = new AbortController();
    const message = `${method} ${path}: watch: not open within ${String(openTimeoutMs)} ms`;
    const cancel = clock.timer(openTimeoutMs, () => late.abort(new ApiError({ code: 'Timeout', message })));
    try {
      return await kube.request({ ...request, once: true, signal: AbortSignal.any([signal, late.signal]) });
    } finally {
      cancel();
    }
  },
});
