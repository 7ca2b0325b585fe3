import type { Kube, KubeRequest, KubeResponse } from '../../src/kubernetes/api/kube.ts';
import { followBody } from '../apiserver/index.ts';

type Chunk = Promise<IteratorResult<Uint8Array>>;

export interface SendOptions<Note> {
  readonly kube: Kube;
  /** What `abort` is given of the request. */
  readonly note: Note;
  /** How a chunk of the body is read, until `signal` ends the request. */
  readonly read?: (chunk: Chunk, signal: AbortSignal) => Chunk;
}

/** Requests whose answers are not read to their end. Each ends with its caller's signal, or with a connection that is given up. */
export class OpenRequests<Note> {
  readonly #open = new Map<AbortController, Note>();

  async send(request: KubeRequest, { kube, note, read = (chunk) => chunk }: SendOptions<Note>): Promise<KubeResponse> {
    request.signal.throwIfAborted();
    const controller = new AbortController();
    const { signal } = controller;
    const abort = (): void => controller.abort(request.signal.reason);
    const finish = (): void => {
      this.#open.delete(controller);
      request.signal.removeEventListener('abort', abort);
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

  /** Ends all of them, each with the reason that its note asks for. */
  abort(reasonOf: (note: Note) => Error): void {
    for (const [controller, note] of [...this.#open]) controller.abort(reasonOf(note));
  }
}
