/** The n-th smallest of the values, counted from 1; undefined where there are not so many. No value may be NaN. */
export const nthSmallest = (values: readonly number[], n: number): number | undefined =>
  Float64Array.from(values).sort()[n - 1];
