import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import { systemClock as clock, systemRandom as random } from '../process/index.ts';

// These have explicit types: the declarations of the package must not import those of the program, which need packages that a user lacks.

/** Returns the clock of the machine. */
export const systemClock: () => Clock = clock;

/** Returns the random numbers of the machine. */
export const systemRandom: () => Random = random;
