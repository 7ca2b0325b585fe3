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
  let cancel: () => void = () => undefined;
  const schedule = (ms: number): void => {
    cancel = clock.timer(ms, () => {
      const next = step();
      if (!stopped) schedule(next);
    });
  };
  schedule(firstMs);
  return () => {
    stopped = true;
    cancel();
  };
};
