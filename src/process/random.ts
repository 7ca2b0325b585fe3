import type { Random } from '../ports/random.ts';

/** Random numbers of the JavaScript engine: good for jitter, not for secrets. */
export const systemRandom = (): Random => ({ next: () => Math.random() });
