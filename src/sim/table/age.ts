const [minute, hour, day] = [60, 3_600, 86_400];
const year = 365 * day;

const two = (seconds: number, [big, small]: readonly [number, number], [a, b]: readonly [string, string]): string => {
  const rest = Math.floor((seconds % big) / small);
  return `${Math.floor(seconds / big)}${a}${rest === 0 ? '' : `${rest}${b}`}`;
};

/** `ms` as kubectl shows ages, in two figures at most: `HumanDuration` in k8s.io/apimachinery/pkg/util/duration. */
export const ageText = (ms: number): string => {
  const seconds = Math.trunc(ms / 1_000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 2 * minute) return `${Math.max(0, seconds)}s`;
  if (seconds < 10 * minute) return two(seconds, [minute, 1], ['m', 's']);
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return two(seconds, [hour, minute], ['h', 'm']);
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return two(seconds, [day, hour], ['d', 'h']);
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return two(seconds, [year, day], ['y', 'd']);
  return `${Math.floor(seconds / year)}y`;
};

/** The age at `now` (milliseconds since the epoch) of what a Kubernetes time says. */
export const sinceText = (time: unknown, now: number): string =>
  typeof time === 'string' ? ageText(now - Date.parse(time)) : '<unknown>';
