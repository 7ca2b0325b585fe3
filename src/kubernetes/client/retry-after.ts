/** Longest `Retry-After` that we respect. A response with 999999999 seconds once put an informer to sleep for 31 years. */
export const longestRetryAfterMs = {
  /** Short, because no shoot is protected while we wait. */
  seed: 60_000,
  /** Longer, because only this shoot is affected. */
  shoot: 600_000,
} as const;

/** Parses a `Retry-After` header into milliseconds, at most `longestMs`. As in client-go (`retryAfterSeconds` in `rest`), only seconds count: undefined for a date. */
export const parseRetryAfter = (header: string | undefined, longestMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  return /^\d+$/.test(text) ? Math.min(Number(text) * 1_000, longestMs) : undefined;
};
