import type { Result } from './errors.ts';

/** Nanoseconds per unit; `µs` is spelled with U+00B5 or U+03BC. */
const units: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['\u00b5s', 1e3],
  ['\u03bcs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3_600e9],
]);
const nanosPerMs = 1e6;
const unitNames = 'ns, us, ms, s, m, h';

/** Go stores a duration as int64 nanoseconds. */
const limit = 2 ** 63;
const tooLarge = 'is beyond 2562047h47m16.854775807s';

const fail = (error: string): Result<number, string> => ({ ok: false, error });

const quote = (text: string): string => JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}...` : text);

const parseTerms = (text: string): Result<number, string> => {
  const term = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  let nanos = 0;
  while (term.lastIndex < text.length) {
    const at = term.lastIndex;
    const [, whole = '', fraction = '', unitName = ''] = term.exec(text) ?? [];
    if (whole === '' && fraction === '') return fail(`has no number at ${quote(text.slice(at))}`);
    if (unitName === '') return fail(`has no unit (${unitNames}) after ${quote(text.slice(at))}`);
    const unit = units.get(unitName);
    if (unit === undefined) return fail(`has the unknown unit ${quote(unitName)} (known: ${unitNames})`);
    // As Go computes it (`leadingFraction`): more digits do not count, and the result is cut to whole nanoseconds.
    const digits = fraction.slice(0, Number(fraction.slice(0, 19)) < limit ? 19 : 18);
    nanos += Number(whole) * unit + Math.floor(Number(digits) * (unit / 10 ** digits.length));
    if (nanos >= limit) return fail(tooLarge);
  }
  return { ok: true, value: nanos / nanosPerMs };
};

/**
 * Parses a duration in Go's syntax (`time.ParseDuration`), such as `300ms`, `1.5h` or `2h45m`, and returns milliseconds: with a fraction
 * if it is finer than that, and negative if the text is. The error is a predicate, to be put after the name of the value.
 */
export const parseGoDuration = (text: string): Result<number, string> => {
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return { ok: true, value: 0 };
  if (unsigned === '') return fail('is empty');
  const parsed = parseTerms(unsigned);
  return parsed.ok && parsed.value > 0 && text.startsWith('-') ? { ok: true, value: -parsed.value } : parsed;
};

const formatNanos = (nanos: number): string => {
  if (nanos === 0) return '0s';
  if (nanos < 1e3) return `${nanos}ns`;
  if (nanos < 1e6) return `${nanos / 1e3}\u00b5s`;
  if (nanos < 1e9) return `${nanos / 1e6}ms`;
  const seconds = `${(nanos % 60e9) / 1e9}s`;
  const minutes = Math.floor(nanos / 60e9);
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
};

/** Formats finite milliseconds, of up to 18 years, as Go does (`time.Duration.String`): `5m0s`, `1.5s`, `300ms`. Rounds to 1 ns. */
export const formatGoDuration = (ms: number): string => {
  const nanos = Math.round(Math.abs(ms) * nanosPerMs);
  return `${ms < 0 && nanos > 0 ? '-' : ''}${formatNanos(nanos)}`;
};

/** Formats an age in whole seconds, such as `3m12s`; `0s` if it is negative. */
export const formatAge = (ms: number): string => formatGoDuration(Math.max(0, Math.round(ms / 1_000)) * 1_000);
