import { ApiError } from '../api/errors.ts';
import type { Kube } from '../api/kube.ts';

/** Tracks the writes that may still reach the API server, so that leadership is not released before they have ended. */
export class WriteTracker {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #end = new AbortController();

  /** Wraps `kube` to track its writes. */
  track(kube: Kube): Kube {
    return {
      request: (request) => {
        if (request.method === 'GET') return kube.request(request);
        const signal = AbortSignal.any([request.signal, this.#end.signal]);
        const answer = kube.request({ ...request, signal });
        void this.#follow(answer);
        return answer;
      },
    };
  }

  /** Resolves when no write is in flight. */
  async ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Aborts all writes, present and future: they reject with a `ConnectionError`. Those in flight may or may not have taken effect. */
  abort(why: string): void {
    this.#end.abort(new ApiError({ code: 'ConnectionError', message: `given up: ${why}` }));
  }

  async #follow(answer: Promise<unknown>): Promise<void> {
    this.#underWay.add(answer);
    await answer.catch(() => undefined);
    this.#underWay.delete(answer);
  }
}
