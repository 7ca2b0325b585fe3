import type { Plan } from '../plan.ts';

// A bug that tests plant: a wrapper around one function. What is wrapped has types that are the component's own affair; here it is
// JSON-like data.

export type Shape = Readonly<Record<string, unknown>>;
export type Wrapped = (...args: (Shape | undefined)[]) => unknown;
export type PlantedChange = (original: Wrapped) => Wrapped;

export interface Bug {
  readonly name: string;
  /** Function that is wrapped; where two bear the same name, with that of the component before it. */
  readonly of: string;
  readonly change: PlantedChange;
  /** Invariants of which one has to break first. */
  readonly breaks: readonly string[];
  /** Plans among which it has to be found. Default: those of probers. */
  readonly among?: (plan: Plan) => boolean;
  /** A plan that finds it, where the first is found late: it is tried before all others. */
  readonly knownPlan?: number;
}

export const shape = (value: unknown): Shape => value as Shape;
