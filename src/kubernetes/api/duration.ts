import type { Result } from './errors.ts';
import { trimEndOf } from './trim-end.ts';

/** Nanoseconds per unit; `µs` is spelled with U+00B5 or U+03BC. */
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const nanosPerMs = 1_000_000n;
const unitNames = 'ns, us, ms, s, m, h';

/** Go stores a duration as int64 nanoseconds, so the smallest is -2^63 ns. */
const limit = 2n ** 63n;
const tooLarge = 'is beyond 2562047h47m16.854775807s';

type Nanos = Result<bigint, string>;

const fail = (error: string): { readonly ok: false; readonly error: string } => ({ ok: false, error });

const quote = (text: string): string => JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}...` : text);

/** Go ignores digits of a fraction that no longer fit into an int64 (`leadingFraction`). */
const fractionNanos = (digits: string, unit: bigint): bigint => {
  let fraction = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = fraction * 10n + BigInt(digit);
    if (fraction > (limit - 1n) / 10n || next > limit) break;
    fraction = next;
    scale *= 10;
  }
  // Floating point, as in Go: 0.3333333333333333333h is 20m0s.
  return BigInt(Math.floor(Number(fraction) * (Number(unit) / scale)));
};

const sumTerms = (text: string): Nanos => {
  const term = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  let sum = 0n;
  while (term.lastIndex < text.length) {
    const at = term.lastIndex;
    const [, whole = '', fraction = '', unitName = ''] = term.exec(text) ?? [];
    if (whole === '' && fraction === '') return fail(`has no number at ${quote(text.slice(at))}`);
    if (unitName === '') return fail(`has no unit (${unitNames}) after ${quote(text.slice(at))}`);
    const unit = Object.hasOwn(units, unitName) ? units[unitName] : undefined;
    if (unit === undefined) return fail(`has the unknown unit ${quote(unitName)} (known: ${unitNames})`);
    // More than 19 digits are beyond an int64, whatever the unit; a number of a million digits is not worth computing.
    if (/[1-9]\d{19}/.test(whole)) return fail(tooLarge);
    sum += BigInt(whole) * unit + fractionNanos(fraction, unit);
    if (sum > limit) return fail(tooLarge);
  }
  return { ok: true, value: sum };
};

const parseNanos = (text: string): Nanos => {
  const negative = text.startsWith('-');
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return { ok: true, value: 0n };
  if (unsigned === '') return fail('is empty');
  const sum = sumTerms(unsigned);
  if (!sum.ok || negative) return sum.ok ? { ok: true, value: -sum.value } : sum;
  return sum.value < limit ? sum : fail(tooLarge);
};

/**
 * Parses a duration in Go's syntax (`time.ParseDuration`), such as `300ms`, `1.5h` or `2h45m`, and returns milliseconds: with a fraction
 * if it is finer than that, and negative if the text is. The error is a predicate, to be put after the name of the value.
 */
export const parseGoDuration = (text: string): Result<number, string> => {
  const nanos = parseNanos(text);
  if (!nanos.ok) return nanos;
  // Converted separately, because more than 2^53 ns do not fit into a number while their milliseconds do.
  const [whole, rest] = [nanos.value / nanosPerMs, nanos.value % nanosPerMs];
  return { ok: true, value: Number(whole) + Number(rest) / Number(nanosPerMs) };
};

const withFraction = (nanos: bigint, unit: string): string => {
  const perUnit = units[unit] ?? 1n;
  const digits = perUnit.toString().length - 1;
  const fraction = (nanos % perUnit).toString().padStart(digits, '0');
  const shown = trimEndOf(fraction, '0');
  return `${nanos / perUnit}${shown === '' ? '' : `.${shown}`}${unit}`;
};

const formatNanos = (nanos: bigint): string => {
  if (nanos === 0n) return '0s';
  if (nanos < 1_000n) return `${nanos}ns`;
  if (nanos < 1_000_000n) return withFraction(nanos, '\u00b5s');
  if (nanos < 1_000_000_000n) return withFraction(nanos, 'ms');
  const minute = 60_000_000_000n;
  const seconds = withFraction(nanos % minute, 's');
  const minutes = nanos / minute;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
};

/** Formats finite milliseconds as Go does (`time.Duration.String`): `5m0s`, `1.5s`, `300ms`. Rounds to 1 ns. */
export const formatGoDuration = (ms: number): string => {
  const whole = Math.trunc(ms);
  const nanos = BigInt(whole) * nanosPerMs + BigInt(Math.round((ms - whole) * Number(nanosPerMs)));
  return nanos < 0n ? `-${formatNanos(-nanos)}` : formatNanos(nanos);
};

/** Formats an age in whole seconds, such as `3m12s`; `0s` if it is negative. */
export const formatAge = (ms: number): string => formatGoDuration(Math.max(0, Math.round(ms / 1_000)) * 1_000);
