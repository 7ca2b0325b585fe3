import type { Clock } from '../../src/ports/clock.ts';
import type { Random } from '../../src/ports/random.ts';
import type { SimStore } from '../apiserver/index.ts';
import type { PathState } from './network-path.ts';
import type { WorldTiming } from './timing.ts';

/** Dependencies of every actor. Actors write only through the store and wait only on the clock. */
export interface ActorDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: WorldTiming;
  readonly store: SimStore;
}

/** Returns the state of the path from an actor to an API server. */
export type PathToServer = () => PathState;

/** Calls `step` repeatedly; it returns the milliseconds until its next call. Returns the function that stops the loop, also from inside `step`. */
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
