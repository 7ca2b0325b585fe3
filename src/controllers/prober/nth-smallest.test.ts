import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nthSmallest } from './nth-smallest.ts';

const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true }),
  fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
);

it('is what stands there when all are sorted', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), (values) => {
      const before = [...values];
      const sorted = values.toSorted((a, b) => a - b);
      for (let n = 0; n <= values.length + 1; n += 1) expect(nthSmallest(values, n)! + 0).toBe(sorted[n - 1]! + 0);
      expect(values).toEqual(before);
    }),
    { numRuns: 1_000 },
  );
});

it.each([
  ['in order', (index: number) => index],
  ['in reverse', (index: number) => 10_000 - index],
  ['all alike', () => 1],
])('finds its way among many: %s', (_, at) => {
  const values = Array.from({ length: 10_000 }, (__, index) => at(index));
  const sorted = values.toSorted((a, b) => a - b);
  for (const n of [1, 2, 6_000, 10_000]) expect(nthSmallest(values, n)).toBe(sorted[n - 1]);
});
