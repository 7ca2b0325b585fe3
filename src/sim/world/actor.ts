import type { Clock, Random } from '../../ports/index.ts';
import type { Reachability } from '../https.ts';
import type { SimStore } from '../store.ts';
import type { WorldTiming } from './timing.ts';

/** What every actor lives on. Actors write through the store and wait on the clock, nothing else. */
export interface ActorDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly timing: WorldTiming;
  readonly store: SimStore;
}

/** How far requests to an API server get from where an actor stands. */
export type Path = () => Reachability;

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
