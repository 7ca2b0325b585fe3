import type { SimEvent } from '../history.ts';
import type { Rules } from '../rules.ts';
import type { Model } from '../model.ts';
import type { Views } from '../client-views.ts';

/** All that is known when an event is checked; the event itself is in it already. */
export interface Known {
  readonly model: Model;
  readonly views: Views;
  readonly rules: Rules;
}

/** Hears every event in order, and says what is wrong as soon as something is. */
export type Checker = (event: SimEvent, known: Known) => string | undefined;

/** Something that must hold whatever happens. */
export interface Invariant {
  readonly name: string;
  /** For one run. */
  begin(): Checker;
}

/** An invariant that needs no memory but what `Known` has. */
export const stateless = (name: string, check: Checker): Invariant => ({ name, begin: () => check });

/** An invariant as a fold over the events. */
export const stateful = <State>(
  name: string,
  start: State,
  step: (
    state: State,
    event: SimEvent,
    known: Known,
  ) => { readonly state: State; readonly problem?: string | undefined },
): Invariant => ({
  name,
  begin: () => {
    let state = start;
    return (event, known) => {
      const next = step(state, event, known);
      ({ state } = next);
      return next.problem;
    };
  },
});
