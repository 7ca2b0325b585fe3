import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import { followBody } from '../apiserver/index.ts';

type Chunk = Promise<IteratorResult<Uint8Array>>;

export interface SendOptions<Note> {
  readonly kube: Kube;
  /** The caller's data about the request; `abort` chooses the reason by it. */
  readonly note: Note;
  /** Wraps the read of a chunk of the body; `signal` aborts when the request ends. */
  readonly read?: (chunk: Chunk, signal: AbortSignal) => Chunk;
}

/** Requests whose responses are not read to the end yet. Each can end early by its caller's signal or by `abort`. */
export class OpenRequests<Note> {
  readonly #open = new Map<AbortController, Note>();

  get size(): number {
    return this.#open.size;
  }

  async send(request: KubeRequest, { kube, note, read = (chunk) => chunk }: SendOptions<Note>): Promise<KubeResponse> {
    request.signal.throwIfAborted();
    const controller = new AbortController();
    const { signal } = controller;
    const finish = (): void => {
      this.#open.delete(controller);
      request.signal.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      finish();
      controller.abort(request.signal.reason);
    };
    request.signal.addEventListener('abort', abort, { once: true });
    this.#open.set(controller, note);
    try {
      const response = await kube.request({ ...request, signal });
      return { ...response, body: followBody(response.body, finish, (chunk) => read(chunk, signal)) };
    } catch (error) {
      finish();
      throw error;
    }
  }

  /** Aborts all open requests, each with the reason that `reasonOf` returns for its note. */
  abort(reasonOf: (note: Note) => Error): void {
    for (const [controller, note] of [...this.#open]) controller.abort(reasonOf(note));
  }
}
