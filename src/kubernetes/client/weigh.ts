/** Approximate bytes that V8 uses for an object, a set or a list, and for each entry. */
const [bytesOfHolder, bytesOfEntry] = [64, 32];

/** V8 uses two bytes per character if any of them is beyond Latin-1, else one. */
const textBytes = (text: string): number => (/[^\u0000-\u00ff]/.test(text) ? 2 : 1) * text.length;

/** Estimates the bytes of memory that a projection uses: plain objects, lists, sets and strings. */
export const weigh = (value: unknown): number => {
  if (typeof value === 'string') return bytesOfEntry + textBytes(value);
  if (typeof value !== 'object' || value === null) return bytesOfEntry;
  const entries =
    value instanceof Set || Array.isArray(value) ? [...(value as Iterable<unknown>)] : Object.values(value);
  return entries.reduce<number>((sum, entry) => sum + weigh(entry), bytesOfHolder);
};
