import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAge, formatGoDuration, parseGoDuration } from './duration.ts';

/** Results of `time.ParseDuration` of Go 1.26: milliseconds and their `String()`. */
const go: readonly (readonly [text: string, ms: number, printed: string])[] = [
  ['0', 0, '0s'],
  ['-0', 0, '0s'],
  ['1.5h', 5_400_000, '1h30m0s'],
  ['-1s', -1_000, '-1s'],
  ['.5s', 500, '500ms'],
  ['1.s', 1_000, '1s'],
  ['11us', 0.011, '11\u00b5s'],
  ['12\u00b5s', 0.012, '12\u00b5s'],
  ['12\u03bcs', 0.012, '12\u00b5s'],
  ['10.5s4m', 250_500, '4m10.5s'],
  ['1h2m3s4ms5us6ns', 3_723_004.005006, '1h2m3.004005006s'],
  ['0.3333333333333333333h', 1_200_000, '20m0s'],
  ['0.9223372036854775807h', 3_320_413.933267, '55m20.413933267s'],
  ['1.9ns', 0.000001, '1ns'],
  ['-0.9ns', 0, '0s'],
  ['1.99999999999999999999999s', 2_000, '2s'],
  ['1\u00b5s1ns', 0.001001, '1.001\u00b5s'],
  ['999999ns', 0.999999, '999.999\u00b5s'],
];

/** Texts that it refuses. */
const refused: readonly string[] = [
  ...['1.5', '.s', '-.s', '+.s', '1..5s', '1.5.s', '1w', '1y', ' 1s', '1s ', '1m s', '1S', '1H', '1Ms', 's', '+'],
  ...['- 1s', '--1s', '1-s', '1e3s', '0x10s', '1_000s', '1,5s', '∞', '1\u00b5', '\u00b5s', '9223372036854775809ns'],
  ...['2562048h', '99999999999999999999999s'],
];

const parsed = (text: string): number => {
  const result = parseGoDuration(text);
  if (!result.ok) throw new Error(`${text} ${result.error}`);
  return result.value;
};

it.each(go)('reads %j as Go does, as %d ms, and prints %s', (text, ms, printed) => {
  expect(parsed(text)).toBe(ms);
  expect(formatGoDuration(ms)).toBe(printed);
});

it('reads the longest durations', () => {
  expect(parsed('2562047h')).toBe(2_562_047 * 3_600_000);
  expect(parsed('-9223372036854775000ns')).toBe(-(2 ** 63) / 1e6);
});

describe('parseGoDuration', () => {
  it('refuses what Go refuses', () => {
    expect(refused.filter((text) => parseGoDuration(text).ok)).toEqual([]);
  });

  it.each([
    ['', 'is empty'],
    ['-', 'is empty'],
    ['30', 'has no unit (ns, us, ms, s, m, h) after "30"'],
    ['1h30', 'has no unit (ns, us, ms, s, m, h) after "30"'],
    ['5d', 'has the unknown unit "d" (known: ns, us, ms, s, m, h)'],
    ['1 s', 'has the unknown unit " s" (known: ns, us, ms, s, m, h)'],
    ['1constructor', 'has the unknown unit "constructor" (known: ns, us, ms, s, m, h)'],
    ['abc', 'has no number at "abc"'],
    ['9'.repeat(1_000_000), `has no unit (ns, us, ms, s, m, h) after "${'9'.repeat(20)}..."`],
    ['1\n', String.raw`has the unknown unit "\n" (known: ns, us, ms, s, m, h)`],
    [`${'9'.repeat(1_000_000)}s`, 'is beyond 2562047h47m16.854775807s'],
    ['3000000h', 'is beyond 2562047h47m16.854775807s'],
  ])('describes the error in "%s"', (text, error) => {
    expect(parseGoDuration(text)).toEqual({ ok: false, error });
  });

  it('never throws, and never returns NaN', () => {
    const syllables = fc.array(
      fc.constantFrom('1', '0.5', '.', '-', '+', 's', 'ms', 'h', '\u00b5s', ' ', '9'.repeat(25), '9'.repeat(400)),
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      syllables.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (value) => {
        const result = parseGoDuration(value);
        return !result.ok || Number.isFinite(result.value);
      }),
    );
  });
});

describe('formatGoDuration', () => {
  it('prints text that parses to the same value', () => {
    const wholeMs = fc.integer({ min: -5e11, max: 5e11 });
    const nanosOfADay = fc.integer({ min: -864e11, max: 864e11 }).map((nanos) => nanos / 1e6);
    fc.assert(fc.property(fc.oneof(wholeMs, nanosOfADay), (ms) => Object.is(parsed(formatGoDuration(ms)), ms + 0)));
  });

  it('rounds to a nanosecond', () => {
    expect([0.000_000_4, 999.999_999_9, -0.1 - 0.2].map(formatGoDuration)).toEqual(['0s', '1s', '-300\u00b5s']);
  });
});

it('an age has whole seconds, and is 0s if it is negative because clocks differ', () => {
  expect([192_499, 192_500, 0, -5_000].map(formatAge)).toEqual(['3m12s', '3m13s', '0s', '0s']);
});
