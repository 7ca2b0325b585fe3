/** How long a server may ask to be left alone. One answer with 999999999 seconds once put an informer to sleep for 31 years. */
export const longestRetryAfterMs = {
  /** Nothing is protected while we wait. */
  seed: 60_000,
  /** It costs nobody but this shoot. */
  shoot: 600_000,
} as const;

/** The wait that a server asks for, cut; undefined if the text is no wait. */
export const cappedRetryAfterMs = (ms: number, longestMs: number): number | undefined =>
  Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), longestMs);

/** The three forms of RFC 9110, section 5.6.7, start with the name of a day. The last one does not say that it is in GMT. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

const parseHttpDate = (text: string): number =>
  httpDate.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;

export interface RetryAfterOptions {
  /** Wall clock, milliseconds since the epoch. */
  readonly now: number;
  readonly longestMs: number;
}

/**
 * Milliseconds from a `Retry-After` header, at most `longestMs`: seconds, or an HTTP date as seen from `now` (RFC 9110, section 10.2.3).
 * Undefined where it is neither.
 */
export const parseRetryAfter = (
  header: string | undefined,
  { now, longestMs }: RetryAfterOptions,
): number | undefined => {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - now;
  return cappedRetryAfterMs(ms, longestMs);
};
