/** 0001-01-01 to 9999-12-31, the range of RFC 3339 and of Go's JSON. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

/** Converts seconds since the epoch and `nanos` on top to whole microseconds since the epoch. Undefined outside the years 1 to 9999. */
export const microsecondsOf = (seconds: number, nanos: number): number | undefined => {
  if (!Number.isInteger(seconds) || seconds < firstSecond || seconds > lastSecond) return undefined;
  if (!Number.isInteger(nanos) || nanos < 0 || nanos > 999_999_999) return undefined;
  return seconds * 1_000_000 + Math.floor(nanos / 1_000);
};

/** Parses RFC 3339 into whole microseconds since the epoch; undefined if the text is not a time. */
export const parseMicroTime = (text: string): number | undefined => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const seconds = Math.floor(ms / 1_000);
  const [, finer = ''] = /\.\d{3}(\d{1,3})/.exec(text) ?? [];
  return seconds * 1_000_000 + ((ms - seconds * 1_000) * 1_000 + Number(finer.padEnd(3, '0')));
};

/**
 * Formats a `metav1.MicroTime` for JSON (k8s.io/apimachinery `pkg/apis/meta/v1/micro_time.go`): RFC 3339 in UTC, cut off to six digits after the
 * point. `seconds` since the epoch, `nanos` on top. Undefined outside the years 1 to 9999.
 */
export const formatMicroTime = (seconds: number, nanos: number): string | undefined => {
  if (microsecondsOf(seconds, nanos) === undefined) return undefined;
  const wholeSeconds = new Date(seconds * 1_000).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  return `${wholeSeconds}.${String(Math.floor(nanos / 1_000)).padStart(6, '0')}Z`;
};
