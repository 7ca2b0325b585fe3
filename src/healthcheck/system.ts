import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import { systemClock as clock, systemRandom as random } from '../process/index.ts';

// With types of their own: the declarations of the package must not reach into those of the program, which need packages that a user lacks.

/** The clock of the machine. */
export const systemClock: () => Clock = clock;

/** Random numbers of the machine. */
export const systemRandom: () => Random = random;
