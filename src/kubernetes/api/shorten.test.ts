import { expect, it } from 'vitest';
import { shorten } from './shorten.ts';

it.each([
  { length: 0, shown: 0 },
  { length: 99, shown: 99 },
  { length: 100, shown: 100 },
  { length: 101, shown: 103 },
  { length: 1_000_000, shown: 103 },
])('a text of $length characters is shown with $shown', ({ length, shown }) => {
  const text = 'x'.repeat(length);
  const short = shorten(text);
  expect(short).toHaveLength(shown);
  expect(short.startsWith(text.slice(0, 100))).toBe(true);
  expect(short.endsWith('...')).toBe(length > 100);
});
