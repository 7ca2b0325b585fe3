import type { Kube } from '../ports/index.ts';

export interface TrackedWrites {
  readonly kube: Kube;
  /** Resolves when no write is under way. */
  readonly ended: () => Promise<void>;
}

/** Knows which writes may still reach the API server, so that leadership is not given up before they have ended. */
export const trackWrites = (kube: Kube): TrackedWrites => {
  const underWay = new Set<Promise<unknown>>();
  const track = async (answer: Promise<unknown>): Promise<void> => {
    underWay.add(answer);
    await answer.catch(() => undefined);
    underWay.delete(answer);
  };
  return {
    kube: {
      request: (request) => {
        const answer = kube.request(request);
        if (request.method !== 'GET') void track(answer);
        return answer;
      },
    },
    ended: async () => {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
};
