/** A body whose chunks are pushed in; what is not read yet waits. */
export interface ByteStream {
  readonly body: AsyncIterable<Uint8Array>;
  push(chunk: Uint8Array): void;
  /** No more chunks: the reader gets what waits, then the end. */
  end(): void;
  /** The reader gets what waits, then `error`. */
  fail(error: unknown): void;
  /** Chunks that nobody has read yet. */
  readonly backlog: number;
}

type Outcome = { readonly type: 'end' } | { readonly type: 'error'; readonly error: unknown };

interface Reader {
  resolve(result: IteratorResult<Uint8Array>): void;
  reject(error: unknown): void;
}

const finished: IteratorResult<Uint8Array> = { done: true, value: undefined };

/** `onAbandon` is called once, when the reader stops before the end. */
export const createByteStream = (onAbandon: () => void): ByteStream => {
  const chunks: Uint8Array[] = [];
  const readers: Reader[] = [];
  let outcome: Outcome | undefined;

  const settle = (reader: Reader): void => {
    if (outcome?.type === 'error') reader.reject(outcome.error);
    else reader.resolve(finished);
  };

  const finish = (how: Outcome): void => {
    if (outcome !== undefined) return;
    outcome = how;
    for (const reader of readers.splice(0)) settle(reader);
  };

  const iterator: AsyncIterator<Uint8Array> = {
    next: () =>
      new Promise((resolve, reject) => {
        const chunk = chunks.shift();
        const reader: Reader = { resolve, reject };
        if (chunk !== undefined) resolve({ done: false, value: chunk });
        else if (outcome !== undefined) settle(reader);
        else readers.push(reader);
      }),
    return() {
      const early = outcome === undefined;
      chunks.length = 0;
      finish({ type: 'end' });
      if (early) onAbandon();
      return Promise.resolve(finished);
    },
  };

  return {
    body: { [Symbol.asyncIterator]: () => iterator },
    push(chunk) {
      if (outcome !== undefined) return;
      const reader = readers.shift();
      if (reader === undefined) chunks.push(chunk);
      else reader.resolve({ done: false, value: chunk });
    },
    end: () => finish({ type: 'end' }),
    fail(error) {
      finish({ type: 'error', error });
    },
    get backlog() {
      return chunks.length;
    },
  };
};

/** A body of one chunk. */
export const bodyOf = (bytes: Uint8Array): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]() {
    let rest: Uint8Array | undefined = bytes;
    return {
      next() {
        const value = rest;
        rest = undefined;
        return Promise.resolve(value === undefined ? finished : { done: false, value });
      },
      return() {
        rest = undefined;
        return Promise.resolve(finished);
      },
    };
  },
});
