import type { Plan } from '../plan.ts';

// A bug that tests plant: a wrapper around one function. The types of the function are internal to its component; here they are
// JSON-like data.

export type Shape = Readonly<Record<string, unknown>>;
export type Wrapped = (...args: (Shape | undefined)[]) => unknown;
export type PlantedChange = (original: Wrapped) => Wrapped;

export interface Bug {
  readonly name: string;
  /** Name of the wrapped function, with its component as a prefix if two functions have the same name. */
  readonly of: string;
  readonly change: PlantedChange;
  /** Invariants. The first violation must be of one of them. */
  readonly breaks: readonly string[];
  /** Selects the plans that must find the bug. Default: those of probers. */
  readonly among?: (plan: Plan) => boolean;
  /** Number of a plan that finds the bug. It is tried before all others, and given if the search for the first one takes long. */
  readonly knownPlan?: number;
}

export const shape = (value: unknown): Shape => value as Shape;

/** Changes the first argument. */
export const changeFirst =
  (change: (first: Shape) => object): PlantedChange =>
  (original) =>
  (first = {}, ...rest) =>
    original({ ...first, ...change(first) }, ...rest);
