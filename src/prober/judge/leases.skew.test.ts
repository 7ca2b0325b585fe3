import { describe, expect, it } from 'vitest';
import { measureSkew } from './leases.ts';

describe('clock skew', () => {
  const wallAtEnd = Date.parse('2026-11-21T12:00:10Z');

  it.each([0, 2_000, -2_000, 600_000])(
    'of %i ms is measured to 1.5 s, whenever the server writes its header',
    (skew) => {
      for (const writtenAfterMs of [0, 1_000, 2_000]) {
        const date = Math.floor((wallAtEnd - 2_000 + writtenAfterMs + skew) / 1_000) * 1_000;
        const measured = measureSkew({ date, wallAtEnd, roundTripMs: 2_000 });
        expect(Math.abs((measured ?? Number.NaN) - skew)).toBeLessThanOrEqual(1_500);
      }
    },
  );

  it('is measured as if the server had written its header in the middle of the exchange, and of a second', () => {
    expect(measureSkew({ date: 10_000, wallAtEnd: 11_000, roundTripMs: 1_000 })).toBe(0);
  });

  it('is unknown after a long exchange, and without a Date header', () => {
    expect(measureSkew({ date: wallAtEnd, wallAtEnd, roundTripMs: 2_001 })).toBeUndefined();
    expect(measureSkew({ date: undefined, wallAtEnd, roundTripMs: 0 })).toBeUndefined();
  });
});
