import type { SimEvent } from './history.ts';
import type { Checker, Invariant } from './invariants/invariant.ts';
import type { Plan } from './plan.ts';
import { rulesOf } from './rules.ts';
import { type Model, emptyModel, applyEvent } from './model.ts';
import { type Views, watch } from './client-views.ts';

export interface Violation {
  /** Name of the invariant. */
  readonly invariant: string;
  readonly problem: string;
  readonly at: number;
}

/** Creates a judge, which takes every event of a run and checks it at once. */
export const createJudge = (plan: Plan, invariants: readonly Invariant[]) => {
  const rules = rulesOf(plan);
  const checkers = invariants.map((invariant): readonly [string, Checker] => [invariant.name, invariant.begin()]);
  const events: SimEvent[] = [];
  let model = emptyModel(plan);
  let views: Views = new Map();
  let violation: Violation | undefined;

  const check = (event: SimEvent): void => {
    for (const [invariant, checker] of checkers) {
      const problem = checker(event, { model, views, rules });
      if (problem !== undefined) violation ??= { invariant, problem, at: event.at };
    }
  };

  return {
    take: (event: SimEvent): void => {
      if (violation !== undefined) return;
      events.push(event);
      model = applyEvent(model, event);
      views = watch(views, event, model);
      check(event);
    },
    model: (): Model => model,
    /** Returns the first violation. Later events are ignored. */
    violation: (): Violation | undefined => violation,
    /** Returns the events that were not ignored. */
    events: (): readonly SimEvent[] => events,
  };
};

export type Judge = ReturnType<typeof createJudge>;
