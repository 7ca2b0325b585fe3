import { formatMicroTime } from './micro-time.ts';

/**
 * Formats `ms` since the epoch as a `metav1.Time` in JSON (k8s.io/apimachinery `pkg/apis/meta/v1/time.go`): RFC 3339 in UTC, cut off to whole seconds.
 * Throws a RangeError outside the years 1 to 9999.
 */
export const formatTime = (ms: number): string => {
  const text = formatMicroTime(Math.floor(ms / 1_000), 0);
  if (text === undefined) throw new RangeError(`${ms} ms since the epoch is no time between the years 1 and 9999`);
  return `${text.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
};
