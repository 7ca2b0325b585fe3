/** Bytes put together from pieces, whose memory it does not hold on to. */
export interface ByteSink {
  readonly length: () => number;
  /** Bytes of memory that it takes. */
  readonly held: () => number;
  readonly append: (bytes: Uint8Array) => void;
  /** What has been appended since it was last emptied; good until it changes. */
  readonly bytes: () => Buffer;
  /** Forgets the first `count` bytes. */
  readonly drop: (count: number) => void;
}

const leastBytes = 1024;

/** Each byte is copied a constant number of times on average, however small the pieces are. */
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
