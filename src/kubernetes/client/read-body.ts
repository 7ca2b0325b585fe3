import type { Clock } from '../../ports/clock.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { KubeResponse } from '../api/kube.ts';
import { createByteSink } from '../protobuf/index.ts';
import { ResponseTooLargeError, type Scope } from '../transport/index.ts';
import type { BodyBudget } from './body-budget.ts';
import { createJsonScan } from './json-scan.ts';
import { guardSilence } from './silence-guard.ts';

/** Converts a body while it arrives. */
export interface BodyReader<T> {
  /** Maximum size of the body in bytes. */
  readonly limitBytes: number;
  /** Reads the next chunk. */
  readonly feed: (chunk: Uint8Array) => void;
  /** Returns the memory that it uses, in bytes: far less than `limitBytes` if that is large. */
  readonly held: () => number;
  readonly finish: () => T;
}

/** Discards a body and returns `value`. */
export const ignoreBody = <T>(limitBytes: number, value: () => T): BodyReader<T> => {
  return { limitBytes, feed: () => undefined, held: () => 0, finish: value };
};

/** Collects a whole body; JSON that nests too deeply is refused while it arrives. */
export const wholeBody = <T>(
  limitBytes: number,
  { isJson, read }: { readonly isJson: boolean; readonly read: (bytes: Uint8Array) => T },
): BodyReader<T> => {
  const sink = createByteSink();
  const scan = createJsonScan();
  return {
    limitBytes,
    feed: (chunk) => {
      if (isJson) scan(chunk);
      sink.append(chunk);
    },
    held: () => sink.held(),
    finish: () => read(sink.bytes()),
  };
};

export interface ReadOptions {
  readonly clock: Clock;
  /** Scope of the exchange; it fails when the body stops. */
  readonly scope: Scope;
  /** Method and path for messages, such as `GET /version`. */
  readonly request: string;
  readonly budget?: BodyBudget | undefined;
}

/** Maximum number of bytes that a connection may have read ahead of the reader (the high-water mark of Node's streams). */
const aheadBytes = 64 * 1024;
/** After this much silence, a body counts as stopped. */
const silenceMs = 5_000;

const stopped = (request: string, ms: number): ApiError =>
  new ApiError({
    code: 'Timeout',
    message: `${request}: the body stopped: no byte of it for ${String(ms)} ms (reading the answer)`,
    cause: { code: 'ETIMEDOUT', phase: 'reading the answer' },
  });

/** Returns the error of a body that got no memory in time. Its `cause` shows that this is our fault, and that the server's state is unknown. */
const outOfMemory = (request: string, waitedMs: number, limitBytes: number): ApiError =>
  new ApiError({
    code: 'Timeout',
    message:
      `${request}: out of time after its answer waited ${String(Math.round(waitedMs))} ms for memory of ours: ` +
      `the answers of other shoots take all of the ${String(limitBytes)} bytes for them (ENOBUFS while reading the answer)`,
    cause: { code: 'ENOBUFS', phase: 'reading the answer' },
  });

interface Memory {
  /** Resolves when the body may use `bytes`. Rejects with the scope's reason. */
  readonly hold: (bytes: number) => Promise<void>;
  /** Returns the error to report. A Timeout after a wait for memory is not the server's fault, so it is replaced. */
  readonly blame: (error: unknown) => unknown;
  readonly release: () => void;
}

const createMemory = (budget: BodyBudget, { clock, scope, request }: ReadOptions): Memory => {
  const share = budget.open();
  let waitedMs = 0;
  return {
    hold: async (bytes) => {
      const turn = share.resize(bytes, scope.signal);
      if (turn === undefined) return;
      const from = clock.monotonic();
      try {
        await turn;
      } finally {
        waitedMs += clock.monotonic() - from;
      }
    },
    blame: (error) =>
      waitedMs > 0 && isApiError(error, 'Timeout') ? outOfMemory(request, waitedMs, budget.limitBytes) : error,
    release: share.release,
  };
};

/**
 * Feeds the body to the reader, within limits of size, silence and memory. If the reader throws, abandons the rest, and with it the connection. Rejects
 * with the reader's error, with an ResponseTooLargeError, with a Timeout if the body stopped or waited for memory until the deadline, and with the
 * scope's reason.
 */
export const readBody = async <T>(
  body: KubeResponse['body'],
  reader: BodyReader<T>,
  options: ReadOptions,
): Promise<T> => {
  const { budget, clock, scope, request } = options;
  const memory = budget === undefined ? undefined : createMemory(budget, options);
  const silence = guardSilence({ clock, limitMs: silenceMs, onSilence: (ms) => scope.fail(stopped(request, ms)) });
  let length = 0;
  try {
    for await (const chunk of body) {
      silence.pause();
      length += chunk.byteLength;
      if (length > reader.limitBytes) throw new ResponseTooLargeError(reader.limitBytes);
      reader.feed(chunk);
      await memory?.hold(Math.min(length, aheadBytes) + reader.held());
      silence.heard();
    }
    return reader.finish();
  } catch (error) {
    throw memory === undefined ? error : memory.blame(error);
  } finally {
    silence.stop();
    memory?.release();
  }
};
