/** Names with more characters are not compared, because the time grows with the square of the length. */
const longest = 64;

/** Optimal string alignment distance: the number of letters added, left out, replaced, or swapped with their neighbour. */
const distance = (a: string, b: string): number => {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      let steps = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        steps = Math.min(steps, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(steps);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? 0;
};

const bare = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, '');

/** Returns the one of `names` that `name` most likely misspells; undefined if none is similar. Pure. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > longest) return undefined;
  const written = bare(name);
  let found: { readonly name: string; readonly steps: number } | undefined;
  for (const candidate of names) {
    const meant = bare(candidate);
    // One letter in four may be wrong, but at least one.
    const most = Math.max(1, Math.floor(meant.length / 4));
    if (Math.abs(meant.length - written.length) > most) continue;
    const steps = distance(written, meant);
    if (steps <= most && (found === undefined || steps < found.steps)) found = { name: candidate, steps };
  }
  return found?.name;
};
