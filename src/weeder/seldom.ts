import type { Clock } from '../ports/clock.ts';

/** The window of the alerts, in milliseconds: whoever follows one finds the cause in the log of the last minutes. */
const windowMs = 600_000;

/** Returns a function that is true for a key once in ten minutes. A missing right fails in all namespaces of a seed that recovers. */
export const seldom = (clock: Clock): ((key: unknown) => boolean) => {
  const last = new Map<unknown, number>();
  return (key) => {
    const now = clock.monotonic();
    if (now - (last.get(key) ?? Number.NEGATIVE_INFINITY) < windowMs) return false;
    last.set(key, now);
    return true;
  };
};
