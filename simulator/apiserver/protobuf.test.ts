import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cursorOf, fieldOf, readMessage, readString } from '../../src/kubernetes/protobuf/protobuf.ts';
import { type ProtobufMessage, encodeProtobuf } from './protobuf.ts';

const inner: ProtobufMessage = { name: [1, 'string'], count: [2, 'integer'] };
const outer: ProtobufMessage = {
  name: [1, 'string'],
  number: [2, 'integer'],
  flag: [3, 'bool'],
  tags: [4, 'strings'],
  labels: [5, 'stringMap'],
  time: [6, 'time'],
  child: [7, inner],
  children: [300, [inner]],
};

const hex = (object: Readonly<Record<string, unknown>>): string | undefined => {
  const bytes = encodeProtobuf(outer, object);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('hex');
};

describe('encodeProtobuf', () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ['nothing', {}, ''],
    ['null and absent fields', { name: null, number: undefined }, ''],
    ['the fields in the order of the object', { number: 1, name: 'ab' }, '10010a026162'],
    ['an empty string', { name: '' }, '0a00'],
    ['a string of characters with several bytes', { name: 'ä🌍' }, '0a06c3a4f09f8c8d'],
    ['a number of one byte', { number: 127 }, '107f'],
    ['a number of two bytes', { number: 128 }, '108001'],
    ['a number beyond 32 bits', { number: 2 ** 40 + 1 }, '10818080808020'],
    ['the largest number', { number: Number.MAX_SAFE_INTEGER }, '10ffffffffffffff0f'],
    ['a negative number', { number: -1 }, '10ffffffffffffffffff01'],
    ['a number with a fraction', { number: 1.9 }, '1001'],
    ['a boolean', { flag: false }, '1800'],
    ['strings', { tags: ['a', 'b'] }, '220161220162'],
    ['a map', { labels: { a: 'x', b: '' } }, '2a060a01611201782a050a01621200'],
    ['a time of 1970', { time: '1970-01-01T00:00:01Z' }, '320408011000'],
    [
      'a time before that, with microseconds',
      { time: '1969-12-31T23:59:59.500000Z' },
      '321108ffffffffffffffffff011080cab5ee01',
    ],
    ['a message', { child: { name: 'a', count: 3 } }, '3a050a01611003'],
    ['messages under a large number', { children: [{ name: 'a' }, {}] }, 'e212030a0161e21200'],
  ])('writes %s', (_, object, expected) => {
    expect(hex(object)).toBe(expected);
  });

  it.each([{ other: 1 }, { child: { other: 1 } }, { children: [{ name: 'a' }, { other: 1 }] }])(
    'returns undefined for a field that the type does not name: %j',
    (object) => {
      expect(hex(object)).toBeUndefined();
    },
  );

  it('writes messages of any size', () => {
    const words = fc.array(fc.string({ unit: 'binary', maxLength: 400 }), { maxLength: 30 });
    fc.assert(
      fc.property(words, (tags) => {
        const bytes = encodeProtobuf(outer, { tags }) ?? new Uint8Array();
        const cursor = cursorOf(bytes);
        const read: string[] = [];
        readMessage(cursor, bytes.length, (tag) => {
          expect(fieldOf(tag)).toBe(4);
          read.push(readString(cursor, tag));
        });
        // Half of a surrogate pair has no UTF-8 encoding.
        expect(read).toEqual(tags.map((tag) => Buffer.from(tag).toString()));
      }),
      { numRuns: 200 },
    );
  });
});
