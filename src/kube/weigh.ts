/** Bytes that V8 takes for an object, a set or a list, and for each entry, roughly. */
const [bytesOfHolder, bytesOfEntry] = [64, 32];

/** About how many bytes of memory a projection takes: plain objects, lists, sets and strings. */
export const weigh = (value: unknown): number => {
  if (typeof value === 'string') return bytesOfEntry + value.length;
  if (typeof value !== 'object' || value === null) return bytesOfEntry;
  const entries =
    value instanceof Set || Array.isArray(value) ? [...(value as Iterable<unknown>)] : Object.values(value);
  return entries.reduce<number>((sum, entry) => sum + weigh(entry), bytesOfHolder);
};
