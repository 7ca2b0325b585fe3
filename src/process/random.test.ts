import { expect, it } from 'vitest';
import { systemRandom } from './random.ts';

it('returns different numbers in [0, 1)', () => {
  const random = systemRandom();
  const numbers = Array.from({ length: 1_000 }, () => random.next());
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  expect(new Set(numbers).size).toBeGreaterThan(990);
});
