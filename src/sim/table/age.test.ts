import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ageText, sinceText } from './age.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
const year = 365 * day;

describe('an age', () => {
  it.each([
    [-2 * second, '<invalid>'],
    [-1_999, '0s'],
    [-second, '0s'],
    [0, '0s'],
    [999, '0s'],
    [2 * minute - 1, '119s'],
    [2 * minute, '2m'],
    [2 * minute + second, '2m1s'],
    [10 * minute - second, '9m59s'],
    [10 * minute + 59 * second, '10m'],
    [3 * hour - second, '179m'],
    [3 * hour, '3h'],
    [3 * hour + minute, '3h1m'],
    [8 * hour - second, '7h59m'],
    [8 * hour + 59 * minute, '8h'],
    [2 * day - second, '47h'],
    [2 * day, '2d'],
    [2 * day + hour, '2d1h'],
    [8 * day - second, '7d23h'],
    [8 * day + 23 * hour, '8d'],
    [2 * year - second, '729d'],
    [2 * year, '2y'],
    [2 * year + day, '2y1d'],
    [8 * year - second, '7y364d'],
    [8 * year + 364 * day, '8y'],
  ])('of %i ms is %s', (ms, text) => {
    expect(ageText(ms)).toBe(text);
  });

  it('has two figures at most, and is never ahead of the time', () => {
    const units: Readonly<Record<string, number>> = { s: second, m: minute, h: hour, d: day, y: year };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 * year }), (ms) => {
        const text = ageText(ms);
        expect(text).toMatch(/^\d+[smhdy](?:\d+[smhdy])?$/);
        const told = [...text.matchAll(/(\d+)([smhdy])/g)].map(([, count, unit]) => Number(count) * units[unit!]!);
        const sum = told.reduce((a, b) => a + b, 0);
        expect(sum).toBeLessThanOrEqual(ms);
        expect(ms - sum).toBeLessThan(year);
      }),
    );
  });

  it('is unknown where there is no time', () => {
    for (const time of [undefined, null, 7]) expect(sinceText(time, 0)).toBe('<unknown>');
    expect(sinceText('1970-01-01T00:00:00Z', minute)).toBe('60s');
  });
});
