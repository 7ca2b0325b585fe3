import type { ServerResponse } from 'node:http';
import type { HttpExchange } from '../../process/index.ts';
import { securityHeaders } from './guards.ts';

/** Time in milliseconds that a reader may leave a message unread. */
const patienceMs = 10_000;

export interface EventStream {
  /**
   * Sends a message. Drops it and returns false while an earlier message is unread, so that a slow reader does not use up memory. The stream ends if an
   * earlier message stays unread for 10 s.
   */
  send(message: Buffer): boolean;
  /** Calls `listener` when the reader disconnects, or at once if it already has. */
  onEnd(listener: () => void): void;
}

/** Formats a message of a server-sent event stream, https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream. */
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

/** Turns HTTP responses into event streams, with a limit of open streams. */
export class EventStreams {
  readonly #most: number;
  readonly #monotonic: () => number;
  #open = 0;

  constructor(most: number, monotonic: () => number) {
    this.#most = most;
    this.#monotonic = monotonic;
  }

  /** Starts an event stream that ends when the server stops. If too many are open, returns undefined and leaves the response unchanged. */
  open(exchange: HttpExchange): EventStream | undefined {
    const { response, signal } = exchange;
    if (this.#open >= this.#most) return undefined;
    this.#open += 1;
    exchange.keepOpen();
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
      // Proxies must not buffer messages.
      'X-Accel-Buffering': 'no',
    });
    response.write('retry: 1000\n\n');
    return new ResponseStream(response, this.#monotonic);
  }
}
