/** Longest `Retry-After` that we respect. A response with 999999999 seconds once put an informer to sleep for 31 years. */
export const longestRetryAfterMs = {
  /** Short, because no shoot is protected while we wait. */
  seed: 60_000,
  /** Longer, because only this shoot is affected. */
  shoot: 600_000,
} as const;

/** Limits a requested wait to the range from 0 to `longestMs`; undefined for NaN, which stands for a text that is not a wait. */
export const cappedRetryAfterMs = (ms: number, longestMs: number): number | undefined =>
  Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestMs);

/** The three forms of RFC 9110, section 5.6.7, start with the name of a day. The last one is in GMT without naming it. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

const parseHttpDate = (text: string): number =>
  httpDate.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;

export interface RetryAfterOptions {
  /** Wall clock, milliseconds since the epoch. */
  readonly now: number;
  readonly longestMs: number;
}

/**
 * Parses a `Retry-After` header, seconds or an HTTP date relative to `now` (RFC 9110, section 10.2.3), into milliseconds, at most `longestMs`.
 * Undefined if it is neither.
 */
export const parseRetryAfter = (
  header: string | undefined,
  { now, longestMs }: RetryAfterOptions,
): number | undefined => {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return cappedRetryAfterMs(ms, longestMs);
};
