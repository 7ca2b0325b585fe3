import type { SimEvent } from '../history.ts';
import type { Rules } from '../rules.ts';
import type { Model } from '../model.ts';
import type { Views } from '../client-views.ts';

/** Everything that is known when an event is checked, including the event itself. */
export interface Known {
  readonly model: Model;
  readonly views: Views;
  readonly rules: Rules;
}

/** Receives every event in order, and returns a problem as soon as there is one. */
export type Checker = (event: SimEvent, known: Known) => string | undefined;

/** A rule that must always hold. */
export interface Invariant {
  readonly name: string;
  /** Creates the checker of one run. */
  begin(): Checker;
}

/** Creates an invariant that has no state of its own besides `Known`. */
export const stateless = (name: string, check: Checker): Invariant => ({ name, begin: () => check });

/** Creates an invariant as a fold over the events. */
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
