import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFields } from './protobuf-reader.ts';
import {
  ProtobufError,
  cursorOf as cursorAt,
  fieldOf,
  readInteger,
  readLength,
  readRange,
  readString,
  readTag,
  skipField,
  equalsAscii,
} from './protobuf.ts';

const cursorOf = (...bytes: readonly number[]) => cursorAt(Uint8Array.from(bytes));

/** Encodes a number as protobuf.dev specifies: seven bits per byte, the lowest first; negative numbers as 64 bits. */
const varint = (value: bigint): readonly number[] => {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  do {
    bytes.push(Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0));
    left >>= 7n;
  } while (left > 0n);
  return bytes;
};

describe('numbers', () => {
  it.each([0n, 1n, -1n, 127n, 128n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, -(2n ** 31n), 2n ** 53n - 1n, 2n ** 35n])(
    'reads %s',
    (value) => {
      expect(readInteger(cursorOf(...varint(value)), 0x08)).toBe(Number(value));
    },
  );

  it.each([
    ['is truncated', [0x80, 0x80], 'ends inside a number'],
    ['is empty', [], 'ends inside a number'],
    ['never ends', Array.from({ length: 20 }, () => 0x80), 'more than ten bytes'],
  ])('refuses one that %s', (_, bytes, problem) => {
    expect(() => readInteger(cursorOf(...bytes), 0x08)).toThrow(problem);
    expect(() => readInteger(cursorOf(...bytes), 0x08)).toThrow(ProtobufError);
  });

  it('refuses a wire type other than that of the field', () => {
    expect(() => readInteger(cursorOf(1), 0x0a)).toThrow('field 1 has the wire type 2');
    expect(() => readString(cursorOf(1), 0x08)).toThrow('field 1 has the wire type 0');
  });
});

describe('tags and lengths', () => {
  it('reads field numbers of several bytes', () => {
    expect(fieldOf(readTag(cursorOf(0x8a, 0x01)))).toBe(17);
    expect(fieldOf(readTag(cursorOf(...varint(2n ** 32n - 6n))))).toBe(2 ** 29 - 1);
  });

  it.each([
    [[0x02], 'number 0'],
    [varint(2n ** 32n), 'beyond 32 bits'],
    [varint(-1n), 'beyond 32 bits'],
  ])('refuses the tag %j', (bytes, problem) => {
    expect(() => readTag(cursorOf(...bytes))).toThrow(problem);
  });

  it.each([
    [[0x01], 'longer than what is there'],
    [[0x7f, 1, 2, 3], 'longer than what is there'],
    [varint(2n ** 32n - 1n), 'longer than what is there'],
    [varint(-1n), 'beyond 32 bits'],
  ])('refuses the length %j', (bytes, problem) => {
    expect(() => readLength(cursorOf(...bytes), 0x0a)).toThrow(problem);
  });
});

describe('strings', () => {
  const stringField = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    return cursorOf(...varint(BigInt(bytes.length)), ...bytes);
  };

  it('reads any written text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(readString(stringField(text), 0x0a)).toBe(text);
      }),
    );
    expect(readString(stringField('\uFEFFmark'), 0x0a)).toBe('\uFEFFmark');
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(() => readString(cursorOf(2, 0xc3, 0x28), 0x0a)).toThrow('not UTF-8');
  });

  it('are compared without reading them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: 'grapheme-ascii' }), (text, other) => {
        const cursor = stringField(text);
        const range = readRange(cursor, 0x0a);
        expect(cursor.at).toBe(cursor.bytes.length);
        expect(equalsAscii(cursor, range, text)).toBe(true);
        expect(equalsAscii(cursor, range, other)).toBe(text === other);
      }),
    );
  });
});

describe('messages', () => {
  it.each([
    ['a varint', [0x08, ...varint(-1n)]],
    ['64 bits', [0x09, 1, 2, 3, 4, 5, 6, 7, 8]],
    ['bytes', [0x0a, 3, 0xff, 0xff, 0xff]],
    ['32 bits', [0x0d, 1, 2, 3, 4]],
  ])('skips %s', (_, bytes) => {
    const cursor = cursorOf(...bytes, 0x10, 7);
    skipField(cursor, readTag(cursor));
    expect(readInteger(cursor, readTag(cursor))).toBe(7);
  });

  it.each([
    ['64 bits that are truncated', [0x09, 1, 2, 3]],
    ['32 bits that are truncated', [0x0d, 1]],
    ['a group', [0x0b, 0x0c]],
    ['the wire type 6', [0x0e]],
  ])('refuses %s', (_, bytes) => {
    const cursor = cursorOf(...bytes);
    expect(() => skipField(cursor, readTag(cursor))).toThrow(ProtobufError);
  });

  it('refuses a field that ends beyond its message, even if the bytes are available', () => {
    const cursor = cursorOf(0x0a, 2, 1, 1, 9);
    expect(() => readFields(cursor, 3, { fields: {}, draft: {} })).toThrow('beyond its message');
  });
});
