import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAge, formatGoDuration, parseGoDuration } from './duration.ts';

/** Results of `time.ParseDuration` of Go 1.26: nanoseconds and their `String()`. */
const go: readonly (readonly [text: string, nanos: bigint, printed: string])[] = [
  ['0', 0n, '0s'],
  ['+0', 0n, '0s'],
  ['-0', 0n, '0s'],
  ['300ms', 300000000n, '300ms'],
  ['1.5h', 5400000000000n, '1h30m0s'],
  ['2h45m', 9900000000000n, '2h45m0s'],
  ['5m0s', 300000000000n, '5m0s'],
  ['-1s', -1000000000n, '-1s'],
  ['+5s', 5000000000n, '5s'],
  ['.5s', 500000000n, '500ms'],
  ['1.s', 1000000000n, '1s'],
  ['5.0s', 5000000000n, '5s'],
  ['5.0040s', 5004000000n, '5.004s'],
  ['100.00100s', 100001000000n, '1m40.001s'],
  ['11us', 11000n, '11\u00b5s'],
  ['12\u00b5s', 12000n, '12\u00b5s'],
  ['12\u03bcs', 12000n, '12\u00b5s'],
  ['10.5s4m', 250500000000n, '4m10.5s'],
  ['-2m3.4s', -123400000000n, '-2m3.4s'],
  ['1h2m3s4ms5us6ns', 3723004005006n, '1h2m3.004005006s'],
  ['39h9m14.425s', 140954425000000n, '39h9m14.425s'],
  ['0.3333333333333333333h', 1200000000000n, '20m0s'],
  ['9007199254740993ns', 9007199254740993n, '2501h59m59.254740993s'],
  ['9223372036854775807ns', 9223372036854775807n, '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', -9223372036854775808n, '-2562047h47m16.854775808s'],
  ['9223372036854775.807us', 9223372036854775807n, '2562047h47m16.854775807s'],
  ['9223372036854.775807ms', 9223372036854775807n, '2562047h47m16.854775807s'],
  ['2562047h', 9223369200000000000n, '2562047h0m0s'],
  ['-2562047h47m16.854775808s', -9223372036854775808n, '-2562047h47m16.854775808s'],
  ['0.9223372036854775807h', 3320413933267n, '55m20.413933267s'],
  ['0.100000000000000000000h', 360000000000n, '6m0s'],
  ['0.830103483285477580700h', 2988372539827n, '49m48.372539827s'],
  ['1.00000000000000000001s', 1000000000n, '1s'],
  ['0.5ns', 0n, '0s'],
  ['1.9ns', 1n, '1ns'],
  ['-0.9ns', 0n, '0s'],
  ['0.0000001ms', 0n, '0s'],
  ['1m1m', 120000000000n, '2m0s'],
  ['1s1h', 3601000000000n, '1h0m1s'],
  ['1h1h1h', 10800000000000n, '3h0m0s'],
  ['0s', 0n, '0s'],
  ['0h0m', 0n, '0s'],
  ['00012s', 12000000000n, '12s'],
  ['1.99999999999999999999999s', 2000000000n, '2s'],
  ['1\u00b5s1ns', 1001n, '1.001\u00b5s'],
  ['1000ns', 1000n, '1\u00b5s'],
  ['999999ns', 999999n, '999.999\u00b5s'],
  ['59.999999999s', 59999999999n, '59.999999999s'],
  ['60s', 60000000000n, '1m0s'],
  ['3661.5s', 3661500000000n, '1h1m1.5s'],
  ['5m0.5s', 300500000000n, '5m0.5s'],
  ['87600h', 315360000000000000n, '87600h0m0s'],
  ['1.0005ms', 1000500n, '1.0005ms'],
];

/** Texts that it refuses. */
const refused: readonly string[] = [
  ...['', '1', '1.5', '.s', '-.s', '+.s', '1..5s', '1.5.s', '1d', '1w', '1y', '1 s', ' 1s', '1s ', '1m s'],
  ...['1S', '1H', '1Ms', 's', 'ms', '-', '+', '- 1s', '--1s', '1-s', '1e3s', '0x10s', '1_000s', '1,5s', '∞'],
  ...['1\u00b5', '\u00b5s', '9223372036854775808ns', '-9223372036854775809ns', '9223372036854775.808us'],
  ...['2562048h', '3000000h', '99999999999999999999999s'],
];

const parsed = (text: string): number => {
  const result = parseGoDuration(text);
  if (!result.ok) throw new Error(`${text} ${result.error}`);
  return result.value;
};

describe('parseGoDuration', () => {
  it.each(go.map(([text, nanos]) => ({ text, nanos })))('reads "$text" as Go does', ({ text, nanos }) => {
    const digits = (nanos < 0n ? -nanos : nanos).toString().padStart(7, '0');
    const ms = Number(`${nanos < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`);
    expect(Math.abs(parsed(text) - ms)).toBeLessThanOrEqual(Math.abs(ms) * Number.EPSILON);
  });

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

  it('never throws', () => {
    const syllables = fc.array(
      fc.constantFrom('1', '0.5', '.', '-', '+', 's', 'ms', 'h', '\u00b5s', ' ', '9'.repeat(25)),
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      syllables.map((parts) => parts.join('')),
    );
    fc.assert(fc.property(text, (value) => typeof parseGoDuration(value).ok === 'boolean'));
  });
});

describe('formatGoDuration', () => {
  const exact = go.flatMap(([, nanos, printed]) =>
    // Beyond 2^53 ns, a number of milliseconds is no longer exact to the nanosecond.
    nanos % 1_000_000n !== 0n && nanos > 2n ** 51n ? [] : [{ ms: Number(nanos) / 1e6, printed }],
  );

  it.each(exact.filter(({ ms }) => ms > -1e12))('prints $ms ms as $printed', ({ ms, printed }) => {
    expect(formatGoDuration(ms)).toBe(printed);
  });

  it('prints text that parses to the same value', () => {
    const wholeMs = fc.integer({ min: -9e12, max: 9e12 });
    const nanosOfADay = fc.integer({ min: -864e11, max: 864e11 }).map((nanos) => nanos / 1e6);
    fc.assert(fc.property(fc.oneof(wholeMs, nanosOfADay), (ms) => Object.is(parsed(formatGoDuration(ms)), ms + 0)));
  });

  it('prints every parsed duration in one canonical form', () => {
    const term = fc.tuple(
      fc.integer({ min: 0, max: 999 }),
      fc.constantFrom('ns', 'us', '\u03bcs', 'ms', 's', 'm', 'h'),
    );
    const text = fc.array(term, { minLength: 1, maxLength: 6 }).map((terms) => terms.flat().join(''));
    fc.assert(
      fc.property(text, (duration) => {
        const printed = formatGoDuration(parsed(duration));
        return formatGoDuration(parsed(printed)) === printed && parsed(printed) === parsed(duration);
      }),
    );
  });

  it('rounds to a nanosecond', () => {
    expect(formatGoDuration(0.000_000_4)).toBe('0s');
    expect(formatGoDuration(999.999_999_9)).toBe('1s');
    expect(formatGoDuration(-0.1 - 0.2)).toBe('-300\u00b5s');
  });
});

it('an age has whole seconds, and is 0s if it is negative because clocks differ', () => {
  expect([192_499, 192_500, 0, -5_000].map(formatAge)).toEqual(['3m12s', '3m13s', '0s', '0s']);
});
