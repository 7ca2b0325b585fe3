import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeList } from '../api/decode.ts';
import { JsonListReader } from './json-list.ts';

const options = { kind: 'ThingList', itemBytes: 10_000 };

/** Reads a list in chunks of `size` bytes; returns its items and the token of the next page. */
const read = (text: string, size: number): { readonly items: readonly unknown[]; readonly next: string } => {
  const items: unknown[] = [];
  const reader = new JsonListReader({ ...options, limitBytes: Infinity, item: (json) => void items.push(json) });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.feed(bytes.subarray(at, at + size));
  return { next: reader.finish().next, items };
};

const readWhole = (text: string): readonly unknown[] =>
  decodeList((item) => item, options.kind)(JSON.parse(Buffer.from(text).toString()));

const value = fc.jsonValue({ maxDepth: 4 });
const item = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('items', 'kind', '"items":[')), value, { maxKeys: 4 });
/** Generates lists with fields in any order and space anywhere, more freely than Go writes them. */
const list = fc
  .record({
    items: fc.array(item, { maxLength: 6 }),
    metadata: fc.record({ continue: fc.string(), items: fc.array(value, { maxLength: 2 }) }),
    other: value,
    order: fc.shuffledSubarray(['kind', 'metadata', 'items', 'other'], { minLength: 4 }),
    indent: fc.constantFrom(0, 1, '\t'),
  })
  .map(({ order, indent, ...fields }) => {
    const all: Readonly<Record<string, unknown>> = { kind: 'ThingList', ...fields };
    return JSON.stringify(Object.fromEntries(order.map((key) => [key, all[key]])), undefined, indent);
  });
const size = fc.constantFrom(1, 2, 3, 7, 100, 100_000);

describe('rule 11a: a list in JSON, item by item', () => {
  it('rule 11a: has the same items as the list read as a whole, wherever it is cut', () => {
    fc.assert(
      fc.property(list, size, (text, cut) => {
        expect(read(text, cut).items).toEqual(readWhole(text));
        expect(read(text, cut).next).toBe((JSON.parse(text) as { metadata: { continue: string } }).metadata.continue);
      }),
      { numRuns: 500 },
    );
  });

  const edit = fc.record({
    at: fc.nat(),
    text: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '1', '-', ' ', '"items":['),
  });

  it('rule 11a: after any edit, is an error or has the same items as the list read as a whole', () => {
    fc.assert(
      fc.property(
        list,
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        size,
        (text, edits, isAdded, cut) => {
          const broken = edits.reduce((rest, edit) => {
            const place = edit.at % (rest.length + 1);
            return rest.slice(0, place) + edit.text + rest.slice(place + (isAdded ? 0 : 1));
          }, text);
          let items: readonly unknown[];
          try {
            ({ items } = read(broken, cut));
          } catch {
            return;
          }
          expect(items).toEqual(readWhole(broken));
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"kind":"ThingList","items":null}', []],
    ['{"items":[]}', []],
  ])('rule 11a: %s is accepted', (text, items) => {
    expect(read(text, 1).items).toEqual(items);
  });

  it.each([
    ['{}', 'items'],
    ['{"kind":"OtherList","items":[]}', 'kind'],
    ['[{"items":[]}]', 'an object'],
    ['{"items":[{}{}]}', 'not JSON'],
    ['{"items":[{},]}', 'not JSON'],
    ['{"items":[{}]}{"items":[{}]}', 'not JSON'],
    ['{"items":[0]}', 'not JSON'],
    ['{"\\u0069tems":[{}]}', 'not JSON'],
    ['{"items":[{}],"items":[]}', 'not JSON'],
    ['<html>', 'not JSON'],
    [`{"items":[${'['.repeat(200)}`, 'deeper than 100'],
    [`{"items":[{"a":"${'x'.repeat(10_001)}"}]}`, 'an item of more than 10000'],
    [`{"items":[${' '.repeat(300_000)}`, 'beside the items'],
    [`{"metadata":{"continue":"${'x'.repeat(5_000)}"},"items":[]}`, 'too long'],
  ])('rule 11a: %.30s is refused', (text, problem) => {
    for (const cut of [1, 1_000_000]) expect(() => read(text, cut)).toThrow(problem);
  });
});
