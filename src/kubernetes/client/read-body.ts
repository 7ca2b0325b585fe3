import type { Clock } from '../../ports/clock.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { KubeResponse } from '../api/kube.ts';
import { createByteSink } from '../protobuf/index.ts';
import { AnswerTooLargeError, type Scope } from '../transport/index.ts';
import type { BodyBudget } from './body-budget.ts';
import { createJsonPlace, scanJson } from './json-scan.ts';
import { guardSilence } from './silence-guard.ts';

/** Makes something of a body while it comes in. */
export interface BodyReader<T> {
  /** Most bytes of the body. */
  readonly limitBytes: number;
  /** Takes the next piece. */
  readonly feed: (chunk: Uint8Array) => void;
  /** Bytes of memory that it holds on to: far fewer than `limitBytes` where that is large. */
  readonly held: () => number;
  readonly finish: () => T;
}

/** Reads past a body. */
export const ignoreBody = <T>(limitBytes: number, value: () => T): BodyReader<T> => {
  return { limitBytes, feed: () => undefined, held: () => 0, finish: value };
};

/** Puts a body together; JSON that nests too deeply is refused while it comes in. */
export const wholeBody = <T>(
  limitBytes: number,
  { isJson, read }: { readonly isJson: boolean; readonly read: (bytes: Uint8Array) => T },
): BodyReader<T> => {
  const sink = createByteSink();
  const place = createJsonPlace();
  return {
    limitBytes,
    feed: (chunk) => {
      if (isJson) scanJson(place, chunk, 0);
      sink.append(chunk);
    },
    held: () => sink.held(),
    finish: () => read(sink.bytes()),
  };
};

export interface ReadOptions {
  readonly clock: Clock;
  /** The exchange's; fails when the body stops. */
  readonly scope: Scope;
  /** `GET /version`, for messages. */
  readonly request: string;
  readonly budget?: BodyBudget | undefined;
  /** Monotonic instant at which the call's time is over; what waits for memory waits no longer. Undefined: never. */
  readonly deadline?: number | undefined;
}

/** At most so much may a connection have handed over beyond what a reader holds (the high-water mark of Node's streams). */
const aheadBytes = 64 * 1024;
/** A body that has sent nothing for so long has stopped. */
const silenceMs = 5_000;

const stopped = (request: string, ms: number): ApiError =>
  new ApiError({
    code: 'Timeout',
    message: `${request}: the body stopped: no byte of it for ${String(ms)} ms (reading the answer)`,
    cause: { code: 'ETIMEDOUT', phase: 'reading the answer' },
  });

/** Nobody but us is to blame, and nothing is known of the server: `cause` says so. */
const outOfMemory = (request: string, waitedMs: number, limitBytes: number): ApiError =>
  new ApiError({
    code: 'Timeout',
    message:
      `${request}: out of time after its answer waited ${String(Math.round(waitedMs))} ms for memory of ours: ` +
      `the answers of other shoots take all of the ${String(limitBytes)} bytes for them (ENOBUFS while reading the answer)`,
    cause: { code: 'ENOBUFS', phase: 'reading the answer' },
  });

interface Memory {
  /** Resolves when the body may hold so much; fails the scope when its time is over before that. */
  readonly hold: (bytes: number) => Promise<void>;
  /** What became of the body, where time was lost by waiting: that is no fault of the server. */
  readonly blame: (error: unknown) => unknown;
  readonly release: () => void;
}

const createMemory = (budget: BodyBudget, { clock, scope, request, deadline }: ReadOptions): Memory => {
  const share = budget.open();
  let waitedMs = 0;
  const problem = (): ApiError => outOfMemory(request, waitedMs, budget.limitBytes);
  const wait = async (turn: Promise<void>): Promise<void> => {
    const from = clock.monotonic();
    const isLate = (): void => {
      waitedMs += clock.monotonic() - from;
      scope.fail(problem());
    };
    const cancel = deadline === undefined ? undefined : clock.timer(Math.max(0, deadline - from), isLate);
    try {
      await turn;
      waitedMs += clock.monotonic() - from;
    } finally {
      cancel?.();
    }
  };
  return {
    hold: async (bytes) => {
      const turn = share.resize(bytes, scope.signal);
      if (turn !== undefined) await wait(turn);
    },
    blame: (error) => (waitedMs > 0 && isApiError(error, 'Timeout') ? problem() : error),
    release: share.release,
  };
};

/**
 * Feeds the body to the reader, as far as it is short enough, goes on, and there is memory for it. Leaves the rest, and with it the connection, when the reader
 * throws. Rejects with what the reader throws, with an AnswerTooLargeError, with a Timeout of a body that stopped or waited for memory until the deadline, and
 * with the scope's reason.
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
      if (length > reader.limitBytes) throw new AnswerTooLargeError(reader.limitBytes);
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
