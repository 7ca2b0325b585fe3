import type { Random } from '../ports/random.ts';

/** The machine's random numbers; good for jitter, not for secrets. */
export const systemRandom = (): Random => ({ next: () => Math.random() });
