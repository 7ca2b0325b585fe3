import { closeSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/doubles/temporary-directory.ts';
import { readInput, readText, readTextFile } from './read-text.ts';

async function* stream(...chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* chunks;
}

describe('readText', () => {
  it('joins UTF-8 that is split at any byte', async () => {
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
    ['text that is not UTF-8', () => stream(new Uint8Array([0x61, 0xff])), 'it is not UTF-8 text'],
    ['a truncated character', () => stream(new Uint8Array([0xe2, 0x82])), 'it is not UTF-8 text'],
    [
      'more than 4 MiB',
      () => stream(...Array.from({ length: 5 }, () => new Uint8Array(1024 * 1024))),
      'it is larger than 4 MiB',
    ],
  ])('refuses %s with a message', async (_name, open, message) => {
    await expect(readText(open())).rejects.toThrow(new Error(message));
  });
});

describe('readTextFile', () => {
  it('reads a regular file, through symlinks as a ConfigMap mount has them', async () => {
    const directory = temporaryDirectory();
    const at = (name: string): string => join(directory, name);
    mkdirSync(at('..2026'));
    writeFileSync(at('..2026/config.yaml'), 'a: 1\n');
    symlinkSync('..2026', at('..data'));
    symlinkSync('..data/config.yaml', at('config.yaml'));
    expect(await readTextFile(at('config.yaml'))).toBe('a: 1\n');
  });

  it.each([
    ['/dev/zero', 'it is a device, not a regular file'],
    ['/nowhere/at all', 'no such file or directory'],
  ])('refuses %s with a message', async (path, message) => {
    await expect(readTextFile(path)).rejects.toThrow(new Error(message));
  });

  it('refuses more than 4 MiB', async () => {
    const large = join(temporaryDirectory(), 'large');
    writeFileSync(large, new Uint8Array(4 * 1024 * 1024 + 1));
    await expect(readTextFile(large)).rejects.toThrow(new Error('it is larger than 4 MiB'));
  });
});

describe('readInput', () => {
  const readFile = async (path: string): Promise<string> => `the file ${path}`;

  it.each(['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0', '-'])('takes %s for standard input', async (path) => {
    expect(await readInput(path, readFile)).toBe('the file -');
  });

  it('reads a descriptor that is open in this process, as for <(...) of a shell', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, 'a: 1\n');
    const descriptor = openSync(file, 'r');
    expect(await readInput(`/dev/fd/${descriptor}`, readFile)).toBe('a: 1\n');
    closeSync(descriptor);
  });

  it('leaves every other path to readFile', async () => {
    expect(await readInput('/dev/fd/x', readFile)).toBe('the file /dev/fd/x');
    expect(await readInput('config.yaml', readFile)).toBe('the file config.yaml');
  });
});
