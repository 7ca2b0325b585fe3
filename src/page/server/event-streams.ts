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

const streamOf = (response: ServerResponse, monotonic: () => number): EventStream => {
  let unreadSince: number | undefined;
  return {
    send: (message) => {
      if (response.destroyed) return false;
      if (response.writableLength > 0) {
        unreadSince ??= monotonic();
        if (monotonic() - unreadSince > patienceMs) response.destroy();
        return false;
      }
      unreadSince = undefined;
      response.write(message);
      return true;
    },
    onEnd: (listener) => {
      if (response.closed || response.destroyed) listener();
      else response.once('close', listener);
    },
  };
};

/** Turns an HTTP response into an event stream that ends when the server stops. If too many are open, returns undefined and leaves the response unchanged. */
export type OpenStream = (exchange: HttpExchange) => EventStream | undefined;

export const createEventStreams = (most: number, monotonic: () => number): OpenStream => {
  let open = 0;
  return (exchange) => {
    const { response, signal } = exchange;
    if (open >= most) return undefined;
    open += 1;
    exchange.keepOpen();
    const end = (): void => void response.destroy();
    signal.addEventListener('abort', end, { once: true });
    response.once('close', () => {
      open -= 1;
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
    return streamOf(response, monotonic);
  };
};
