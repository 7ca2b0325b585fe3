type Outcome = { readonly type: 'end' } | { readonly type: 'error'; readonly error: unknown };

interface Reader {
  resolve(result: IteratorResult<Uint8Array>): void;
  reject(error: unknown): void;
}

const finished: IteratorResult<Uint8Array> = { done: true, value: undefined };

/** Creates a body whose chunks are pushed and buffered until they are read. Calls `onAbandon` once if the reader stops before the end. */
export const createByteStream = (onAbandon: () => void) => {
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
    body: { [Symbol.asyncIterator]: () => iterator } as AsyncIterable<Uint8Array>,
    push(chunk: Uint8Array): void {
      if (outcome !== undefined) return;
      const reader = readers.shift();
      if (reader === undefined) chunks.push(chunk);
      else reader.resolve({ done: false, value: chunk });
    },
    /** Ends the body after the buffered chunks. */
    end: (): void => finish({ type: 'end' }),
    /** Fails the body with `error` after the buffered chunks. */
    fail: (error: unknown): void => finish({ type: 'error', error }),
  };
};

export type ByteStream = ReturnType<typeof createByteStream>;

/** Returns a body of one chunk. */
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

/** Wraps `body`: reads each chunk through `read`, and calls `finish` when the body ends, fails or is abandoned. */
export const followBody = (
  body: AsyncIterable<Uint8Array>,
  finish: () => void,
  read: (chunk: Promise<IteratorResult<Uint8Array>>) => Promise<IteratorResult<Uint8Array>> = (chunk) => chunk,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const chunks = body[Symbol.asyncIterator]();
    return {
      async next() {
        try {
          const chunk = await read(chunks.next());
          if (chunk.done === true) finish();
          return chunk;
        } catch (error) {
          finish();
          throw error;
        }
      },
      async return() {
        finish();
        return (await chunks.return?.()) ?? finished;
      },
    };
  },
});
