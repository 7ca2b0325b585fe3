import { describe, expect, it } from 'vitest';
import { measureSkew, significantSkew } from './clock-skew.ts';

const origin = Date.parse('2026-11-21T12:00:00Z');
const tenMinutes = 600_000;

describe('clock skew', () => {
  const wallAtEnd = origin + 10_000;
  /** The server writes its header in the middle of the exchange; headers have no fraction of a second. */
  const date = (skew: number, roundTripMs: number) => wallAtEnd - roundTripMs / 2 + skew - 500;

  it.each([
    { skew: 0, roundTripMs: 10, significant: false },
    { skew: 2_000, roundTripMs: 0, significant: false },
    { skew: 2_001, roundTripMs: 0, significant: true },
    { skew: -2_000, roundTripMs: 0, significant: false },
    { skew: -2_001, roundTripMs: 0, significant: true },
    { skew: 3_000, roundTripMs: 2_000, significant: false },
    { skew: 3_001, roundTripMs: 2_000, significant: true },
    { skew: tenMinutes, roundTripMs: 40, significant: true },
    { skew: 4_500, roundTripMs: 5_000, significant: false, measured: false },
    { skew: 4_501, roundTripMs: 5_000, significant: true, measured: false },
  ])('of $skew ms, measured over $roundTripMs ms: significant $significant', (row) => {
    const { skew, roundTripMs, significant, measured = true } = row;
    const exchange = { date: date(skew, roundTripMs), wallAtEnd, roundTripMs };
    expect(measureSkew(exchange)).toBe(measured ? skew : undefined);
    expect(significantSkew(exchange)).toBe(significant ? skew : undefined);
  });

  it.each([
    { writtenAfterMs: 0, roundTripMs: 2_000, measured: true },
    { writtenAfterMs: 2_000, roundTripMs: 2_000, measured: true },
    { writtenAfterMs: 0, roundTripMs: 14_000, measured: false },
    { writtenAfterMs: 14_000, roundTripMs: 14_000, measured: false },
    { writtenAfterMs: 28_000, roundTripMs: 28_000, measured: false },
  ])('of equal clocks is not significant, even if the response took $roundTripMs ms', ({ writtenAfterMs, ...row }) => {
    const { roundTripMs, measured } = row;
    const written = Math.floor((wallAtEnd - roundTripMs + writtenAfterMs) / 1_000) * 1_000;
    const exchange = { date: written, wallAtEnd, roundTripMs };
    expect(significantSkew(exchange)).toBeUndefined();
    expect(Math.abs(measureSkew(exchange) ?? 0)).toBeLessThanOrEqual(1_500);
    expect(measureSkew(exchange) !== undefined).toBe(measured);
  });

  it('is unknown without a Date header', () => {
    expect(measureSkew({ date: undefined, wallAtEnd, roundTripMs: 0 })).toBeUndefined();
    expect(significantSkew({ date: undefined, wallAtEnd, roundTripMs: 0 })).toBeUndefined();
  });
});
