/**
 * The items, only the first of those that share a name. An honest API server lists each object once, so this changes none of its lists; a hostile one could make
 * one node count a thousand times. It gains nothing by the choice: it could have sent the list that is left. `nameOf`:
 * undefined for an item that counts in any case.
 */
export const distinctBy = <T>(items: readonly T[], nameOf: (item: T) => string | undefined): readonly T[] => {
  // API servers list in the order of etcd's keys, which costs no more than a comparison each.
  let before = '';
  const isAscending = items.every((item) => {
    const name = nameOf(item) ?? '';
    const follows = name > before;
    before = name;
    return follows;
  });
  if (isAscending) return items;
  const seen = new Set<string>();
  return items.filter((item) => {
    const name = nameOf(item);
    if (name === undefined) return true;
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst;
  });
};
