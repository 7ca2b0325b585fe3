import { describe, expect, it } from 'vitest';
import {
  DecodeError,
  decodeList,
  decodeMeta,
  decodeObject,
  decodeString,
  decodeStringMap,
  optionalBoolean,
  optionalInteger,
  optionalList,
  optionalObject,
  optionalString,
} from './decode.ts';

const values: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  text: 'x',
  'an empty text': '',
  true: true,
  zero: 0,
  'a fraction': 1.5,
  'too large a number': 2 ** 60,
  'a list': [1],
  'an object': { a: 1 },
};

const readers = [
  { name: 'optionalObject', read: optionalObject, takes: ['an object'] },
  { name: 'optionalList', read: optionalList, takes: ['a list'] },
  { name: 'optionalString', read: optionalString, takes: ['text', 'an empty text'] },
  { name: 'optionalBoolean', read: optionalBoolean, takes: ['true'] },
  { name: 'optionalInteger', read: optionalInteger, takes: ['zero'] },
];

it.each(readers)('$name accepts its own type, and returns undefined for absent and null', ({ read, takes }) => {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null) expect(read(value, 'at')).toBeUndefined();
    else if (takes.includes(name)) expect(read(value, 'at')).toBe(value);
    else expect(() => read(value, 'a.b'), name).toThrow(DecodeError);
  }
});

describe('mandatory readers', () => {
  it('refuse absent and null', () => {
    expect(() => decodeString(undefined, 'a.b')).toThrow('a.b: expected a string, found nothing');
    expect(() => decodeObject('{}', 'a.b')).toThrow('a.b: expected an object, found a string');
    expect(decodeString('', 'a.b')).toBe('');
  });

  it('read maps of strings', () => {
    expect([undefined, null, { x: '' }].map((map) => decodeStringMap(map, 'a'))).toEqual([{}, {}, { x: '' }]);
    expect(() => decodeStringMap({ x: '1', y: 2 }, 'a')).toThrow('a[y]: expected a string, found a number');
  });

  it('print only the beginning of a huge key', () => {
    const huge = 'k'.repeat(1_000_000);
    expect(() => decodeStringMap({ [huge]: 1 }, 'a')).toThrow(/^a\[k{100}\.\.\.\]: expected a string, found a number$/);
  });
});

describe('decodeMeta', () => {
  it('fills in defaults for absent fields', () => {
    expect(decodeMeta({ metadata: { name: 'a', deletionTimestamp: null } }, 'x')).toEqual({
      name: 'a',
      namespace: '',
      uid: '',
      resourceVersion: '',
      labels: {},
      annotations: {},
      deleting: false,
    });
  });

  it.each([
    [{}, 'x.metadata: expected an object, found nothing'],
    [{ metadata: {} }, 'x.metadata.name: expected a string, found nothing'],
    [{ metadata: { name: 'a', labels: [] } }, 'x.metadata.labels'],
    [{ metadata: { name: 'a', annotations: { k: true } } }, 'x.metadata.annotations[k]'],
  ])('refuses %j', (object, problem) => {
    expect(() => decodeMeta(object, 'x')).toThrow(problem);
  });
});

describe('decodeList', () => {
  const decode = decodeList((item, path) => decodeString(item, path));

  it.each([
    [{ items: ['a', 1] }, 'items[1]: expected a string, found a number'],
    [{ items: {} }, 'items: expected a list, found an object'],
    [[], 'list: expected an object, found a list'],
    // A proxy's own 200 response must not look like a shoot without nodes.
    [{}, 'items: expected a list, found nothing'],
  ])('refuses %j', (json, problem) => {
    expect(() => decode(json)).toThrow(problem);
  });

  it('refuses a list of another kind', () => {
    const decodeLeases = decodeList((item, path) => decodeString(item, path), 'LeaseList');
    expect(decodeLeases({ kind: 'LeaseList', items: ['a'] })).toEqual(['a']);
    expect(decodeLeases({ items: ['a'] })).toEqual(['a']);
    expect(() => decodeLeases({ kind: 'NodeList', items: ['a'] })).toThrow('kind: expected LeaseList');
  });
});
