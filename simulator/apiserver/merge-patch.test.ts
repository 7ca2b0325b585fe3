import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch } from './merge-patch.ts';
import { equalJson } from './object.ts';

const json = fc
  .jsonValue({ maxDepth: 3, noUnicodeString: false })
  .filter((value) => !JSON.stringify(value).includes('__proto__'));

/** Freezes the value deeply, so that every write to it throws. */
const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
};

/** The examples of RFC 7396, appendix A: target, patch, result. */
const rfc7396: readonly (readonly [unknown, unknown, unknown])[] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('merge patch', () => {
  it.each(rfc7396)('%j with %j is %j', (target, patch, result) => {
    expect(applyMergePatch(frozen(target), frozen(patch))).toEqual(result);
  });

  it('is idempotent and leaves its arguments alone', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const once = applyMergePatch(frozen(target), frozen(patch));
        expect(applyMergePatch(frozen(once), patch)).toEqual(once);
      }),
    );
  });
});

describe('equality', () => {
  it('compares JSON values, but ignores the order of members and undefined ones', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(equalJson(a, structuredClone(a))).toBe(true);
        if (JSON.stringify(a) === JSON.stringify(b)) expect(equalJson(a, b)).toBe(true);
        if (equalJson(a, b)) expect(a).toEqual(b);
      }),
    );
    expect(equalJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(equalJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
    expect(equalJson({ a: null }, {})).toBe(false);
    expect(equalJson([], {})).toBe(false);
  });
});
