import { ResponseError } from '../api/errors.ts';

const newline = 0x0a;

/**
 * Splits chunks of bytes into lines. Works on bytes, because a chunk may end inside a multi-byte character. Yields the last line
 * even without a newline, and no empty lines. Throws a ResponseError for a line of more than `limitBytes`.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, limitBytes: number): AsyncGenerator<Buffer, void> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const take = (part: Uint8Array): void => {
    parts.push(part);
    length += part.byteLength;
    if (length > limitBytes) throw new ResponseError(`a line of more than ${limitBytes} bytes`);
  };
  const flush = (): Buffer => {
    const line = Buffer.concat(parts, length);
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end));
      start = end + 1;
      const line = flush();
      if (line.length > 0) yield line;
    }
    if (start < chunk.byteLength) take(chunk.subarray(start));
  }
  const rest = flush();
  if (rest.length > 0) yield rest;
}
