import { describe, expect, it } from 'vitest';
import { formatTime } from './meta-time.ts';

describe('metav1.Time', () => {
  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [999, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59Z'],
    [Date.parse('2026-02-28T23:59:59.999Z'), '2026-02-28T23:59:59Z'],
    [Date.parse('2028-02-29T00:00:00.5Z'), '2028-02-29T00:00:00Z'],
    [0.4, '1970-01-01T00:00:00Z'],
    [Date.UTC(9999, 11, 31), '9999-12-31T00:00:00Z'],
  ])('%d: %s', (ms, text) => {
    expect(formatTime(ms)).toBe(text);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses %d', (ms) => {
    expect(() => formatTime(ms)).toThrow(RangeError);
  });
});
