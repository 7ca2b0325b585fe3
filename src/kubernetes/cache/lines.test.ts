import { expect, it } from 'vitest';
import { ResponseError } from '../api/errors.ts';
import { splitLines } from './lines.ts';

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

const collect = async (lines: AsyncIterable<Buffer>): Promise<string[]> => {
  const all: string[] = [];
  for await (const line of lines) all.push(line.toString());
  return all;
};

it('rule 18: a line above the limit is an error, whether it comes in one chunk or many; one at the limit is not', async () => {
  const text = 'x'.repeat(100);
  for (const size of [1, 1_000]) {
    const at = splitLines(chunksOf(`a\n${text}\nb\n`, size), 100);
    expect(await collect(at)).toEqual(['a', text, 'b']);
    const above = splitLines(chunksOf(`a\n${text}x`, size), 100);
    await expect(collect(above)).rejects.toBeInstanceOf(ResponseError);
  }
});

it('releases the source when the reader stops', async () => {
  let closed = 0;
  async function* source(): AsyncGenerator<Uint8Array, void> {
    try {
      while (true) yield Buffer.from('line\n');
    } finally {
      closed += 1;
    }
  }
  for await (const _line of splitLines(source(), 100)) break;
  expect(closed).toBe(1);
});
