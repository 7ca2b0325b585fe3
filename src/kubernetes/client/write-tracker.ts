import { ApiError } from '../api/errors.ts';
import type { Kube } from '../api/kube.ts';

/** Knows which writes may still reach the API server, so that leadership is not given up before they have ended. */
export class WriteTracker {
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #end = new AbortController();

  /** The same transport, with its writes tracked. */
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

  /** Resolves when no write is under way. */
  async ended(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Gives up all writes, those under way too: they reject with a `ConnectionError`, and may have landed or not. */
  abort(why: string): void {
    this.#end.abort(new ApiError({ code: 'ConnectionError', message: `given up: ${why}` }));
  }

  async #follow(answer: Promise<unknown>): Promise<void> {
    this.#underWay.add(answer);
    await answer.catch(() => undefined);
    this.#underWay.delete(answer);
  }
}
