import { expect, it } from 'vitest';
import { nthSmallest } from './nth-smallest.ts';

it.each([
  [[3, 1, 2], 1, 1],
  [[3, 1, 2], 3, 3],
  [[10, 9, 100], 2, 10],
  [[5, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY], 1, Number.NEGATIVE_INFINITY],
  [[1], 2, undefined],
  [[], 1, undefined],
  [[1], 0, undefined],
])('of %o number %i is %s', (values, n, expected) => {
  const before = [...values];
  expect(nthSmallest(values, n)).toBe(expected);
  expect(values).toEqual(before);
});
