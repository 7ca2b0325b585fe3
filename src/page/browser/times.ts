/** Formats a duration with its two largest units, such as `41s`, `3m12s`, `1h02m` or `3d4h`. */
export const duration = (ms: number): string => {
  const s = Math.max(0, Math.round(ms / 1_000));
  const [m, h, d] = [Math.floor(s / 60), Math.floor(s / 3_600), Math.floor(s / 86_400)];
  if (d > 0) return `${d}d${h % 24}h`;
  if (h > 0) return `${h}h${String(m % 60).padStart(2, '0')}m`;
  return m > 0 ? `${m}m${String(s % 60).padStart(2, '0')}s` : `${s}s`;
};

/** Formats the time from `time` (RFC 3339) to `now` (milliseconds since the epoch). */
export const since = (time: string | undefined, now: number): string => {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '–' : duration(now - at);
};

/** Formats the time of day in the reader's time zone, such as `14:03:59`. */
export const clockTime = (time: string | Date): string => new Date(time).toLocaleTimeString('en-GB');
