import { Readable } from 'node:stream';
import type { Kube, KubeRequest } from '../../src/kubernetes/api/kube.ts';

/** Body of a response that the test writes in pieces. */
export interface ScriptedStream {
  /** Sends one chunk: bytes and text unchanged, anything else as a line of JSON. */
  send(chunk: unknown): void;
  end(): void;
  /** Breaks the body with `error`. */
  fail(error: unknown): void;
}

/** A request that waits for a response from the test. */
export interface ScriptedExchange {
  readonly request: KubeRequest;
  /** Responds with a complete body: bytes and text unchanged, anything else as JSON. */
  respond(status: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** Responds with the head and leaves the body open. */
  stream(status?: number, headers?: Readonly<Record<string, string>>): ScriptedStream;
  /** Rejects the request with `error`, without a response. */
  fail(error: unknown): void;
}

export interface ScriptedKube extends Kube {
  /** Every request so far. */
  readonly requests: readonly KubeRequest[];
  /** Number of requests that wait for a response. */
  readonly waiting: number;
  /** Number of bodies that were neither read to their end nor abandoned. */
  readonly openBodies: number;
  /** Removes and returns the oldest request that waits for a response. Throws if there is none. */
  take(): ScriptedExchange;
}

const bytesOf = (chunk: unknown): Uint8Array => {
  if (chunk instanceof Uint8Array) return chunk;
  return Buffer.from(typeof chunk === 'string' ? chunk : `${JSON.stringify(chunk)}\n`);
};

/** Creates a body that ends or fails on the test's command, or aborts with the signal. Calls `onClosed` once. */
const createBody = (signal: AbortSignal, onClosed: () => void) => {
  const body = new Readable({ objectMode: true, read: () => undefined });
  const abort = (): void => void body.destroy(signal.reason as Error);
  body.on('error', () => undefined);
  body.on('close', () => {
    signal.removeEventListener('abort', abort);
    onClosed();
  });
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  // Unlike a generator, it may be abandoned before it was read.
  const abandon = async () => {
    body.destroy();
    return { done: true, value: undefined } as const;
  };
  const chunks = { [Symbol.asyncIterator]: () => Object.assign(body.iterator(), { return: abandon }) };
  const stream: ScriptedStream = {
    send: (chunk) => void body.push(bytesOf(chunk)),
    end: () => void body.push(null),
    fail: (error) => void body.destroy(error as Error),
  };
  return { stream, chunks };
};

/** Creates a Kube whose requests wait until the test responds. An abort ends a request at once, as the interface requires. */
export const createScriptedKube = (): ScriptedKube => {
  const requests: KubeRequest[] = [];
  const waiting: ScriptedExchange[] = [];
  let openBodies = 0;

  const request: Kube['request'] = (incoming) =>
    new Promise((resolve, reject) => {
      requests.push(incoming);
      const leave = (): void => {
        incoming.signal.removeEventListener('abort', abort);
        const index = waiting.indexOf(exchange);
        if (index >= 0) waiting.splice(index, 1);
      };
      const fail = (error: unknown): void => {
        leave();
        reject(error);
      };
      const abort = (): void => fail(incoming.signal.reason);
      const open = (status: number, headers: Readonly<Record<string, string>>): ScriptedStream => {
        leave();
        openBodies += 1;
        const { stream, chunks } = createBody(incoming.signal, () => {
          openBodies -= 1;
        });
        resolve({ status, headers, body: chunks });
        return stream;
      };
      const exchange: ScriptedExchange = {
        request: incoming,
        respond: (status, body, headers = {}) => {
          const stream = open(status, headers);
          stream.send(body);
          stream.end();
        },
        stream: (status = 200, headers = {}) => open(status, headers),
        fail,
      };
      waiting.push(exchange);
      if (incoming.signal.aborted) abort();
      else incoming.signal.addEventListener('abort', abort);
    });

  return {
    request,
    requests,
    get waiting() {
      return waiting.length;
    },
    get openBodies() {
      return openBodies;
    },
    take: () => {
      const [exchange] = waiting;
      if (exchange === undefined) throw new Error('no request waits for an answer');
      waiting.shift();
      return exchange;
    },
  };
};
