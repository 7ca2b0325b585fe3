import type { ServerResponse } from 'node:http';
import { securityHeaders } from './headers.ts';

/** How long a reader may leave a message unread, in milliseconds. */
const patienceMs = 30_000;

export interface EventStream {
  /**
   * Sends a message; false while one before it is still unread: then it is dropped, for a slow reader must not hold memory. The stream ends when that
   * lasts.
   */
  send(message: Buffer): boolean;
  /** Calls `listener` once the reader is gone, at once if it is. */
  onEnd(listener: () => void): void;
}

/** A message of a server-sent event stream, https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream. */
export const messageOf = (event: string, data: unknown): Buffer =>
  Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

class ResponseStream implements EventStream {
  readonly #response: ServerResponse;
  readonly #monotonic: () => number;
  #unreadSince: number | undefined;

  constructor(response: ServerResponse, monotonic: () => number) {
    this.#response = response;
    this.#monotonic = monotonic;
  }

  send(message: Buffer): boolean {
    const { writableLength, destroyed } = this.#response;
    if (destroyed) return false;
    if (writableLength > 0) {
      this.#unreadSince ??= this.#monotonic();
      if (this.#monotonic() - this.#unreadSince > patienceMs) this.#response.destroy();
      return false;
    }
    this.#unreadSince = undefined;
    this.#response.write(message);
    return true;
  }

  onEnd(listener: () => void): void {
    if (this.#response.closed || this.#response.destroyed) listener();
    else this.#response.once('close', listener);
  }
}

/** Turns answers into event streams, so many at a time. */
export class EventStreams {
  readonly #most: number;
  readonly #monotonic: () => number;
  #open = 0;

  constructor(most: number, monotonic: () => number) {
    this.#most = most;
    this.#monotonic = monotonic;
  }

  /** Undefined if there are too many already; then `response` is untouched. */
  open(response: ServerResponse, signal: AbortSignal): EventStream | undefined {
    if (this.#open >= this.#most) return undefined;
    this.#open += 1;
    const end = (): void => void response.destroy();
    signal.addEventListener('abort', end, { once: true });
    response.once('close', () => {
      this.#open -= 1;
      signal.removeEventListener('abort', end);
    });
    response.writeHead(200, {
      ...securityHeaders,
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // A proxy on the way must not collect messages.
      'X-Accel-Buffering': 'no',
    });
    response.write('retry: 1000\n\n');
    return new ResponseStream(response, this.#monotonic);
  }
}
