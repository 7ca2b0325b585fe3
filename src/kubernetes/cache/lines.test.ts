import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseError } from '../api/errors.ts';
import { splitLines } from './lines.ts';

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array, void> {
  const at = [0, ...[...new Set(cuts)].filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of at.slice(1).entries()) yield bytes.subarray(at[index], end);
}

const collect = async (lines: AsyncIterable<Buffer>): Promise<string[]> => {
  const all: string[] = [];
  for await (const line of lines) all.push(line.toString());
  return all;
};

describe('splitLines', () => {
  it('rule 18: yields the same lines wherever the bytes are cut, even inside multi-byte characters', async () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 10 }),
        fc.array(fc.nat(400), { maxLength: 40 }),
        fc.boolean(),
        async (values, cuts, closing) => {
          const lines = values.map((text) => JSON.stringify({ text }));
          const bytes = Buffer.from(lines.join('\n') + (closing && lines.length > 0 ? '\n' : ''));
          expect(await collect(splitLines(chunksOf(bytes, cuts), 1_000_000))).toEqual(lines);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('rule 18: a line above the limit is an error, whether it comes in one chunk or many; one at the limit is not', async () => {
    const text = 'x'.repeat(100);
    const every = Array.from({ length: 100 }, (_, index) => index);
    for (const cuts of [[], every]) {
      const at = splitLines(chunksOf(Buffer.from(`a\n${text}\nb\n`), cuts), 100);
      expect(await collect(at)).toEqual(['a', text, 'b']);
      const above = splitLines(chunksOf(Buffer.from(`a\n${text}x`), cuts), 100);
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
});
