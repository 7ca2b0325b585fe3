import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatMicroTime, microsecondsOf, parseMicroTime } from './micro-time.ts';

describe('formatMicroTime', () => {
  it.each([
    [1_763_686_800, 123_456_789, '2025-11-21T01:00:00.123456Z'],
    [-1, 1_000, '1969-12-31T23:59:59.000001Z'],
    [-62_135_596_800, 0, '0001-01-01T00:00:00.000000Z'],
    [253_402_300_799, 0, '9999-12-31T23:59:59.000000Z'],
  ])('%d s and %d ns are %s', (seconds, nanos, expected) => {
    expect(formatMicroTime(seconds, nanos)).toBe(expected);
  });

  it.each([
    [-62_135_596_801, 0],
    [253_402_300_800, 0],
    [0.5, 0],
    [Number.POSITIVE_INFINITY, 0],
    [0, -1],
    [0, 1_000_000_000],
  ])('%d s and %d ns are no time', (seconds, nanos) => {
    expect(formatMicroTime(seconds, nanos)).toBeUndefined();
    expect(microsecondsOf(seconds, nanos)).toBeUndefined();
  });
});

describe('parseMicroTime', () => {
  it.each([
    ['1970-01-01T00:00:00.000001Z', 1],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['2025-11-21T01:00:00Z', 1_763_686_800_000_000],
    ['2025-11-21T01:00:00.1Z', 1_763_686_800_100_000],
    ['2025-11-21T01:00:00.1234Z', 1_763_686_800_123_400],
    ['2025-11-21T01:00:00.123456789Z', 1_763_686_800_123_456],
    ['2025-11-21T02:00:00.123456+01:00', 1_763_686_800_123_456],
  ])('%s is %d µs', (text, expected) => {
    expect(parseMicroTime(text)).toBe(expected);
  });

  it.each(['', 'yesterday', '9999-99-99T99:99:99Z'])('%j is no time', (text) => {
    expect(parseMicroTime(text)).toBeUndefined();
  });

  it('parses formatted times', () => {
    const second = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
    fc.assert(
      fc.property(second, fc.nat(999_999_999), (seconds, nanos) => {
        expect(parseMicroTime(formatMicroTime(seconds, nanos) ?? '')).toBe(microsecondsOf(seconds, nanos));
      }),
      { numRuns: 500 },
    );
  });
});
