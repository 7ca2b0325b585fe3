import type { Random } from '../../ports/random.ts';

const shortestMs = 800;
const longestMs = 30_000;
const mostDoublings = 10;

/** Waits between tries that fail: doubling from 0.8 s, at most 30 s, each spread over the upper half of its range. */
export interface Backoff {
  /** The next wait in milliseconds. */
  next(): number;
  /** After a success: the next wait is the shortest again. */
  reset(): void;
}

/** The range of client-go's reflector (`tools/cache/reflector.go`, defaultBackoffInit and defaultBackoffMax), its jitter kept inside. */
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
