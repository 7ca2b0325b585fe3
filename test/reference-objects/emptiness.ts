/** True if a leaf of a view shows that nothing was found for it. */
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'number' && !Number.isFinite(value)) ||
  (Array.isArray(value) && value.length === 0) ||
  ((value instanceof Map || value instanceof Set) && value.size === 0);

/** Members of a value: entries of a record or map by key, of a list or set by index; none of a leaf. */
const membersOf = (value: unknown): readonly (readonly [key: string, value: unknown])[] => {
  if (value instanceof Set) return [...value].map((item, index) => [String(index), item]);
  if (value instanceof Map) return [...value].map(([key, entry]) => [String(key), entry]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
};

const memberOf = (value: unknown, key: string): unknown => membersOf(value).find(([name]) => name === key)?.[1];

/**
 * Paths of fields in `full`, the view of an object with every field, that are empty or equal to those in `bare`, the view of an object without
 * fields.
 */
export const emptyFields = (full: unknown, bare: unknown, path = ''): readonly string[] => {
  if (isEmpty(full)) return [path];
  const members = membersOf(full);
  if (members.length === 0) return full === bare ? [path] : [];
  return members.flatMap(([key, value]) =>
    emptyFields(value, memberOf(bare, key), path === '' ? key : `${path}.${key}`),
  );
};
