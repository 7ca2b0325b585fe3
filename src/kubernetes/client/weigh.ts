/** Bytes that V8 takes for an object, a set or a list, and for each entry, roughly. */
const [bytesOfHolder, bytesOfEntry] = [64, 32];

/** V8 takes two bytes for each unit of a text with one beyond Latin-1. */
const textBytes = (text: string): number => (/[^\u0000-\u00ff]/.test(text) ? 2 : 1) * text.length;

/** About how many bytes of memory a projection takes: plain objects, lists, sets and strings. */
export const weigh = (value: unknown): number => {
  if (typeof value === 'string') return bytesOfEntry + textBytes(value);
  if (typeof value !== 'object' || value === null) return bytesOfEntry;
  const entries =
    value instanceof Set || Array.isArray(value) ? [...(value as Iterable<unknown>)] : Object.values(value);
  return entries.reduce<number>((sum, entry) => sum + weigh(entry), bytesOfHolder);
};
