/** Joins chunks of bytes by copying them, so it does not keep the chunks in memory. */
export interface ByteSink {
  readonly length: () => number;
  /** Returns the memory that it uses, in bytes. */
  readonly held: () => number;
  readonly append: (bytes: Uint8Array) => void;
  /** Returns the bytes that were appended and not dropped; valid until the next change. */
  readonly bytes: () => Buffer;
  /** Removes the first `count` bytes. */
  readonly drop: (count: number) => void;
}

const leastBytes = 1024;

/** Creates a sink that copies each byte a constant number of times on average, however small the chunks are. */
export const createByteSink = (): ByteSink => {
  let buffer = Buffer.alloc(0);
  let start = 0;
  let end = 0;
  const reserve = (count: number): void => {
    if (end + count <= buffer.length) return;
    const kept = buffer.subarray(start, end);
    const larger = Buffer.alloc(Math.max(leastBytes, 2 * kept.length + count));
    larger.set(kept);
    buffer = larger;
    end = kept.length;
    start = 0;
  };
  return {
    length: () => end - start,
    held: () => buffer.length,
    append: (bytes) => {
      reserve(bytes.length);
      buffer.set(bytes, end);
      end += bytes.length;
    },
    bytes: () => buffer.subarray(start, end),
    drop: (count) => {
      start += count;
      if (start >= end) {
        start = 0;
        end = 0;
      }
    },
  };
};
