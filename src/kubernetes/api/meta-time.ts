import { formatMicroTime } from './micro-time.ts';

/**
 * `metav1.Time` as JSON has it (k8s.io/apimachinery `pkg/apis/meta/v1/time.go`): RFC 3339 in UTC with whole seconds, what is finer cut off.
 * `ms` since the epoch; a RangeError for what is no time between the years 1 and 9999.
 */
export const formatTime = (ms: number): string => {
  const text = formatMicroTime(Math.floor(ms / 1_000), 0);
  if (text === undefined) throw new RangeError(`${ms} ms since the epoch is no time between the years 1 and 9999`);
  return `${text.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
};
