import { formatGoDuration } from './duration.ts';
import { formatTime } from './meta-time.ts';

const minuteMs = 60_000;

const toMinute = (ms: number): number => Math.round(ms / minuteMs) * minuteMs;

/** An instant and how long ago it was, as Go prints both (`time.Time.String`, `time.Duration.String`), rounded to the minute. */
export interface GoAge {
  /** Such as `7m0s`. */
  readonly age: string;
  /** Such as `2026-01-01 00:03:00 +0000 UTC`. */
  readonly time: string;
}

/** Formats `at` and its age at `now`, both in milliseconds since the epoch. */
export const goAge = (at: number, now: number): GoAge => {
  const time = `${formatTime(toMinute(at)).slice(0, -1).replace('T', ' ')} +0000 UTC`;
  return { age: formatGoDuration(toMinute(now - at)), time };
};
