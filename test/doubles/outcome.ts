/** Returns what the promise has settled with so far: its value, or `{ error }` if it was rejected. Undefined while it is pending. */
export const outcomeOf = <T>(promise: Promise<T>): (() => T | { readonly error: unknown } | undefined) => {
  let outcome: T | { readonly error: unknown } | undefined;
  promise.then(
    (value) => {
      outcome = value;
    },
    (error: unknown) => {
      outcome = { error };
    },
  );
  return () => outcome;
};
