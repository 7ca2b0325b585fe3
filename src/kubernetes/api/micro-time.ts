/** From 0001-01-01 to 9999-12-31, which is what RFC 3339 and Go's JSON can say. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

/** A time of the wall clock as microseconds since the epoch, what is finer cut off. Undefined for what is no time between the years 1 and 9999. */
export const microsecondsOf = (seconds: number, nanos: number): number | undefined => {
  if (!Number.isInteger(seconds) || seconds < firstSecond || seconds > lastSecond) return undefined;
  if (!Number.isInteger(nanos) || nanos < 0 || nanos > 999_999_999) return undefined;
  return seconds * 1_000_000 + Math.floor(nanos / 1_000);
};

/** Reads RFC 3339 into microseconds since the epoch, what is finer cut off; undefined for what is no time. */
export const parseMicroTime = (text: string): number | undefined => {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  const seconds = Math.floor(ms / 1_000);
  const [, finer = ''] = /\.\d{3}(\d{1,3})/.exec(text) ?? [];
  return seconds * 1_000_000 + ((ms - seconds * 1_000) * 1_000 + Number(finer.padEnd(3, '0')));
};

/**
 * `metav1.MicroTime` as JSON has it (k8s.io/apimachinery `pkg/apis/meta/v1/micro_time.go`): RFC 3339 in UTC with six digits after the
 * point, what is finer cut off. `seconds` since the epoch, `nanos` on top. Undefined for what is no time between the years 1 and 9999.
 */
export const formatMicroTime = (seconds: number, nanos: number): string | undefined => {
  if (microsecondsOf(seconds, nanos) === undefined) return undefined;
  const wholeSeconds = new Date(seconds * 1_000).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
  return `${wholeSeconds}.${String(Math.floor(nanos / 1_000)).padStart(6, '0')}Z`;
};
