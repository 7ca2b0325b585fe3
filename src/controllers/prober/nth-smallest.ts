/**
 * The n-th smallest of the values, counted from 1; undefined where there are not so many. Hoare's selection: sorts only the part that holds it. No value
 * may be NaN.
 */
export const nthSmallest = (values: readonly number[], n: number): number | undefined => {
  const rest = Float64Array.from(values);
  const target = n - 1;
  if (rest[target] === undefined) return undefined;
  let [first, last] = [0, rest.length - 1];
  while (first < last) {
    const { below, above } = partition(rest, first, last);
    if (target <= below) last = below;
    else if (target >= above) first = above;
    else break;
  }
  return rest[target];
};

/** Moves what is smaller than the middle value to the front, up to `below`, and what is greater to the end, from `above` on. */
const partition = (
  values: Float64Array,
  first: number,
  last: number,
): { readonly below: number; readonly above: number } => {
  const at = (index: number): number => values[index] ?? Number.NaN;
  const pivot = at(first + ((last - first) >> 1));
  let [above, below] = [first, last];
  while (above <= below) {
    while (at(above) < pivot) above += 1;
    while (at(below) > pivot) below -= 1;
    if (above > below) break;
    const swapped = at(above);
    values[above] = at(below);
    values[below] = swapped;
    above += 1;
    below -= 1;
  }
  return { below, above };
};
