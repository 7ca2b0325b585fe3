import type { Dispatcher } from 'undici';
import type { Clock } from '../../ports/clock.ts';
import { ResponseError } from '../api/errors.ts';
import type { KubeRequest, KubeResponse } from '../api/kube.ts';
import type { Scope } from './scope.ts';

export interface Outgoing {
  readonly method: KubeRequest['method'];
  /** Path and query as they are sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: KubeRequest['body'];
}

export interface ExchangeContext {
  /** Called right before the request is written to the open connection. If it throws, nothing is written. */
  readonly beforeSend: () => void;
  /** Lifetime of the exchange. Ends when the body is read to its end or abandoned. */
  readonly scope: Scope;
  readonly clock: Clock;
  /** Converts an error of the connection to ours. */
  readonly classify: (error: unknown) => unknown;
}

/** Joins repeated headers, as in RFC 9110, section 5.3. */
export const joinHeaders = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): KubeResponse['headers'] => {
  const joined = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
};

/** Limit for the head and everything before it, such as empty lines and interim responses (1xx). undici limits only the headers themselves. */
const mostHeadBytes = 64 * 1024;
/** Limit of received bytes per byte of the body. An honest server sends chunks of kilobytes; a chunk of one byte takes six. */
const [mostBytesPerByte, freeBytes] = [4, 64 * 1024];
/** Memory of the chunks that are received ahead of the reader: their bytes, and what each takes besides. */
const [mostAheadBytes, chunkBytes] = [64 * 1024, 64];
/** Bytes of a body that are processed before the event loop gets its turn: a few milliseconds at worst. */
const turnBytes = 64 * 1024;

/** One request and its response on a connection: takes undici's events, limits what a response costs without being body, and is the body. */
export class Exchange implements Dispatcher.DispatchHandler, AsyncIterator<Uint8Array, undefined> {
  readonly #context: ExchangeContext;
  readonly #onEnd: (isWhole: boolean) => void;
  readonly #head = Promise.withResolvers<Omit<KubeResponse, 'body'>>();
  #controller: Dispatcher.DispatchController | undefined;
  #end: 'none' | 'whole' | { readonly error: unknown } = 'none';
  #chunks: Uint8Array[] = [];
  #aheadBytes = 0;
  #wakeReader = (): void => undefined;
  readonly #onAbort = (): void => this.fail(this.#context.scope.signal.reason);
  #sinceTurn = 0;
  /** Bytes received from the socket, and those of them that are body. */
  #received = 0;
  #bodyBytes = 0;

  /** Calls `onEnd` once: when the response has been received whole, or when the exchange ends otherwise and its connection must close. */
  constructor(context: ExchangeContext, onEnd: (isWhole: boolean) => void) {
    this.#context = context;
    this.#onEnd = onEnd;
    context.scope.signal.addEventListener('abort', this.#onAbort);
  }

  /** Resolves with the head of the response. Rejects with the reason of an abort or a classified error, as reading the body does. */
  get head(): Promise<Omit<KubeResponse, 'body'>> {
    return this.#head.promise;
  }

  /** Ends the exchange and its connection, unless the response has been received whole. */
  fail(cause: unknown): void {
    if (this.#end !== 'none') return;
    const { scope, classify } = this.#context;
    // An ended exchange was found still reachable, and with it the signal (test/real/leaks).
    scope.signal.removeEventListener('abort', this.#onAbort);
    const error: unknown = scope.signal.aborted ? scope.signal.reason : classify(cause);
    scope.end();
    this.#end = { error };
    this.#head.reject(error);
    this.#wakeReader();
    this.#onEnd(false);
  }

  /** Counts bytes that the socket has received, after undici has parsed them: head, body, and the framing of chunks. */
  count(bytes: number): void {
    this.#received += bytes;
    if (this.#controller === undefined) {
      if (this.#received > mostHeadBytes) this.fail(new ResponseError(`no response within ${mostHeadBytes} bytes`));
    } else if (this.#received > mostBytesPerByte * this.#bodyBytes + mostHeadBytes + freeBytes) {
      this.fail(new ResponseError('the answer comes in pieces that are too small'));
    }
  }

  onRequestStart(): void {
    this.#context.beforeSend();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof joinHeaders>[0],
  ): void {
    if (status < 200) return;
    this.#controller = controller;
    this.#head.resolve({ status, headers: joinHeaders(headers) });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bodyBytes += chunk.length;
    this.#aheadBytes += chunk.length + chunkBytes;
    this.#chunks.push(chunk);
    if (this.#aheadBytes >= mostAheadBytes) controller.pause();
    this.#wakeReader();
  }

  onResponseEnd(): void {
    this.#context.scope.signal.removeEventListener('abort', this.#onAbort);
    this.#end = 'whole';
    this.#wakeReader();
    this.#onEnd(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const { scope, clock } = this.#context;
    if (this.#sinceTurn >= turnBytes) {
      // Otherwise a body that has already arrived is processed without a break.
      this.#sinceTurn = 0;
      await new Promise<void>((resolve) => void clock.timer(0, resolve));
    }
    while (true) {
      if (scope.signal.aborted) throw scope.signal.reason;
      if (typeof this.#end === 'object') throw this.#end.error;
      const value = this.#chunks.shift();
      if (value !== undefined) {
        this.#aheadBytes -= value.length + chunkBytes;
        this.#sinceTurn += value.length;
        return { done: false, value };
      }
      if (this.#end === 'whole') {
        scope.end();
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
        this.#controller?.resume();
      });
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#context.scope.end();
    this.fail(new Error('the body was abandoned'));
    return { done: true, value: undefined };
  }
}
