import { ApiError } from '../api/errors.ts';
import type { Kube } from '../api/kube.ts';

export interface TrackedWrites {
  readonly kube: Kube;
  /** Resolves when no write is under way. */
  readonly ended: () => Promise<void>;
  /** Gives up all writes, those under way too: they reject with a `ConnectionError`, and nobody knows whether they have landed. */
  readonly abort: (why: string) => void;
}

/** Knows which writes may still reach the API server, so that leadership is not given up before they have ended. */
export const trackWrites = (kube: Kube): TrackedWrites => {
  const underWay = new Set<Promise<unknown>>();
  const end = new AbortController();
  const track = async (answer: Promise<unknown>): Promise<void> => {
    underWay.add(answer);
    await answer.catch(() => undefined);
    underWay.delete(answer);
  };
  return {
    kube: {
      request: (request) => {
        if (request.method === 'GET') return kube.request(request);
        const answer = kube.request({ ...request, signal: AbortSignal.any([request.signal, end.signal]) });
        void track(answer);
        return answer;
      },
    },
    ended: async () => {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    abort: (why) => end.abort(new ApiError({ code: 'ConnectionError', message: `given up: ${why}` })),
  };
};
