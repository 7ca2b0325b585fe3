import { createReadStream } from 'node:fs';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readText } from './read-text.ts';

async function* stream(...chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks;
}

describe('readText', () => {
  it('joins UTF-8 however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.array(fc.nat()), async (text, cuts) => {
        const bytes = new TextEncoder().encode(text);
        const at = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
        const chunks = at.map((end, index) => bytes.slice(at[index - 1] ?? 0, end));
        expect(await readText(stream(...chunks))).toBe(text);
      }),
    );
  });

  it.each([
    ['what is not UTF-8', () => stream(new Uint8Array([0x61, 0xff])), 'it is not UTF-8 text'],
    ['a character that is cut off', () => stream(new Uint8Array([0xe2, 0x82])), 'it is not UTF-8 text'],
    [
      'more than 4 MiB',
      () => stream(...Array.from({ length: 5 }, () => new Uint8Array(1024 * 1024))),
      'it is larger than 4 MiB',
    ],
    ['no file', () => createReadStream('/nowhere/at all'), 'no such file or directory'],
    ['a directory', () => createReadStream(tmpdir()), 'illegal operation on a directory'],
  ])('refuses %s in words', async (_name, open, message) => {
    // Opened here: a stream that nobody reads yet throws its error at the process.
    await expect(readText(open())).rejects.toThrow(new Error(message));
  });
});
