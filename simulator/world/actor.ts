import type { Clock } from '../../src/ports/clock.ts';
import type { Random } from '../../src/ports/random.ts';
import type { SimStore } from '../apiserver/index.ts';
import type { PathState } from '../network/index.ts';
import type { WorldTiming } from './timing.ts';

/** What every actor lives on. Actors write through the store and wait on the clock, nothing else. */
export interface ActorDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: WorldTiming;
  readonly store: SimStore;
}

/** How far requests to an API server get from where an actor stands. */
export type PathToServer = () => PathState;

/** `step` again and again, after as many milliseconds as it says each time; from inside `step`, stopping works too. */
export const startLoop = (clock: Clock, firstMs: number, step: () => number): (() => void) => {
  let stopped = false;
  const take = (): void => {
    const ms = step();
    if (!stopped) cancel = clock.timer(ms, take);
  };
  let cancel = clock.timer(firstMs, take);
  return () => {
    stopped = true;
    cancel();
  };
};
