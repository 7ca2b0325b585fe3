import type { Random } from '../../ports/random.ts';

const shortestMs = 800;
const longestMs = 30_000;
const mostDoublings = 10;

/** Waits between failed attempts. Their maximum doubles from 1.6 s up to 30 s; each wait is random in the upper half of its range. */
export interface Backoff {
  /** Returns the next wait in milliseconds. */
  next(): number;
  /** Makes the next wait the shortest again, after a success. */
  reset(): void;
}

/** Creates a back-off with the range of client-go's reflector (`tools/cache/reflector.go`, defaultBackoffInit and defaultBackoffMax), jitter included. */
export const createBackoff = (random: Random): Backoff => {
  let tries = 0;
  return {
    next: () => {
      const most = Math.min(2 * shortestMs * 2 ** Math.min(tries, mostDoublings), longestMs);
      tries += 1;
      return most / 2 + (most / 2) * random.next();
    },
    reset: () => {
      tries = 0;
    },
  };
};
