/**
 * Returns the items without those whose name occurred before. An honest API server lists each object once, so its lists do not change; a hostile one could
 * otherwise make one node count a thousand times. It gains nothing by the choice of the first: it could have sent the remaining list itself.
 * `nameOf` returns undefined for an item that always counts.
 */
export const distinctBy = <T>(items: readonly T[], nameOf: (item: T) => string | undefined): readonly T[] => {
  // API servers list in the order of etcd's keys; then one comparison per item is enough.
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
