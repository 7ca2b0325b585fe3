import { ApiError, createByteSink } from '../domain/index.ts';
import type { Clock, KubeResponse } from '../ports/index.ts';
import { AnswerTooLargeError } from './answer-error.ts';
import type { BodyBudget } from './body-budget.ts';
import { createJsonPlace, scanJson } from './json-scan.ts';
import type { Scope } from './scope.ts';

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
  /** Of the exchange: fails when the body stops. */
  readonly scope: Scope;
  /** `GET /version`, for messages. */
  readonly request: string;
  readonly budget?: BodyBudget | undefined;
}

/** What a connection may have handed over beyond what a reader holds. */
const chunkBytes = 64 * 1024;
/** A body that has sent nothing in two of these one after the other has stopped; in one alone, it may be we who were busy. */
const silenceMs = 1_500;

/** Fails the scope while a piece is waited for that does not come. */
const guardSilence = ({
  clock,
  scope,
  request,
}: ReadOptions): { readonly heard: () => void; readonly stop: () => void } => {
  let silent = 0;
  let stop: () => void;
  const wait = (): void => {
    stop = clock.timer(silenceMs, () => {
      silent += 1;
      if (silent < 2) wait();
      else {
        const message = `${request}: the body stopped: no byte of it for ${String(2 * silenceMs)} ms`;
        scope.fail(new ApiError({ code: 'MalformedResponse', message }));
      }
    });
  };
  wait();
  return {
    heard: () => {
      silent = 0;
    },
    stop: () => stop(),
  };
};

/**
 * Feeds the body to the reader, as far as it is short enough, goes on, and there is memory for it. Leaves the rest, and with it the connection, when the reader
 * throws. Rejects with what the reader throws, with an AnswerTooLargeError, and with the scope's reason.
 */
export const readBody = async <T>(
  body: KubeResponse['body'],
  reader: BodyReader<T>,
  options: ReadOptions,
): Promise<T> => {
  const share = options.budget?.open();
  const silence = guardSilence(options);
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.byteLength;
      if (length > reader.limitBytes) throw new AnswerTooLargeError(reader.limitBytes);
      reader.feed(chunk);
      if (share !== undefined) await share.resize(chunkBytes + reader.held(), options.scope.signal);
      silence.heard();
    }
    return reader.finish();
  } finally {
    silence.stop();
    share?.release();
  }
};
