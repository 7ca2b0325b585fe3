import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { equalJson } from './object.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

const json = fc
  .jsonValue({ maxDepth: 3, noUnicodeString: false })
  .filter((value) => !JSON.stringify(value).includes('__proto__'));

/** Deeply frozen: whoever writes to it throws. */
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

describe('JSON patch', () => {
  it('leaves its arguments alone', () => {
    const document = frozen({ a: [1, { b: 2 }], c: { d: 3 } });
    const patch = frozen([
      { op: 'add', path: '/a/1/e', value: { f: 1 } },
      { op: 'add', path: '/a/1/e/g', value: 2 },
      { op: 'remove', path: '/c/d' },
      { op: 'move', from: '/a/0', path: '/c/h' },
    ]);
    expect(applyJsonPatch(document, patch)).toEqual({ a: [{ b: 2, e: { f: 1, g: 2 } }], c: { h: 1 } });
  });

  it('undoes an add by a remove', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z~/]{1,4}$/), json), json, (document, value) => {
        const add = [{ op: 'add', path: '/new~1key', value }];
        const added = applyJsonPatch(frozen(document), add);
        expect(applyJsonPatch(frozen(added), [{ op: 'test', path: '/new~1key', value }])).toEqual(added);
        expect(applyJsonPatch(added, [{ op: 'remove', path: '/new~1key' }])).toEqual(document);
      }),
    );
  });

  it('fails as a whole for what is no operation', () => {
    for (const patch of [[{}], [{ op: 'add' }], ['add'], [null], [{ op: 'add', path: 'a', value: 1 }]]) {
      expect(() => applyJsonPatch({ a: 1 }, patch)).toThrow('the server rejected our request');
    }
  });
});

describe('strategic merge patch', () => {
  it('is idempotent without directives, and leaves its arguments alone', () => {
    const conditions = fc.array(
      fc.record({ type: fc.constantFrom('A', 'B', 'C'), status: fc.constantFrom('True', 'False') }),
      { maxLength: 4 },
    );
    const shape = fc.record({ conditions, finalizers: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')), other: json });
    fc.assert(
      fc.property(shape, shape, (target, patch) => {
        const once = applyStrategicMergePatch(frozen(target), frozen(patch));
        expect(applyStrategicMergePatch(frozen(once), patch)).toEqual(once);
      }),
    );
  });

  it('replaces a keyed list, or an object, by directive', () => {
    const target = frozen({ conditions: [{ type: 'A' }, { type: 'B' }], map: { x: 1 } });
    const patch = { conditions: [{ $patch: 'replace' }, { type: 'C' }], map: { $patch: 'replace', y: 2 } };
    expect(applyStrategicMergePatch(target, patch)).toEqual({ conditions: [{ type: 'C' }], map: { y: 2 } });
  });

  it('refuses items of a keyed list without their key', () => {
    expect(() => applyStrategicMergePatch({ conditions: [] }, { conditions: [{ status: 'True' }] })).toThrow(
      'merge key: type',
    );
  });
});

describe('equality', () => {
  it('is that of the texts, but for the order of members and absent ones', () => {
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
