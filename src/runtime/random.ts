import type { Random } from '../ports/index.ts';

/** The machine's random numbers; good for jitter, not for secrets. */
export const systemRandom = (): Random => ({ next: () => Math.random() });
