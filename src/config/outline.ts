/** What a configuration file says itself, beside what it comes to: told apart by it, a field that is misspelt and one that was taken out. */
export interface Outline {
  /** Paths of the known fields that the file has. */
  readonly given: ReadonlySet<string>;
  /** What they and all others come to, defaults filled in, as JSON by path. */
  readonly effective: ReadonlyMap<string, string>;
  /** Paths of the fields that nobody knows. */
  readonly unknown: ReadonlySet<string>;
}

/** Items of a list are the same ones wherever they stand in it: by what they are about, if they say so. */
const nameOfItem = (item: unknown, index: number): string => {
  const { ref, type } = (item ?? {}) as { readonly ref?: unknown; readonly type?: unknown };
  return JSON.stringify(ref ?? type ?? index);
};

const separator = '\n';

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(separator)));

const addAll = (found: Map<string, string>, value: unknown, path: string): void => {
  if (value === undefined) return;
  found.set(path, JSON.stringify(value));
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) addAll(found, item, `${path}${separator}${nameOfItem(item, index)}`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) addAll(found, item, `${path}${separator}${key}`);
  }
};

const byPath = (value: unknown): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  addAll(found, value, '');
  return found;
};

/** `given` is the file in the spelling of the schema, without what it does not know; `effective` the same with all defaults. */
export const outlineOf = (given: unknown, effective: unknown, unknown: readonly string[]): Outline => ({
  given: new Set(byPath(given).keys()),
  effective: byPath(effective),
  unknown: new Set(unknown),
});

export interface Suspicion {
  /** Names of the fields that are gone, and whose values would change. */
  readonly gone: readonly string[];
  /** Paths of the unknown fields that have come. */
  readonly come: readonly string[];
}

/**
 * Whether `next` may have lost fields of the file in force by misspelling them: a field is gone whose value would change, and a field has come
 * that nobody knows. Undefined where there is no such suspicion.
 */
export const suspect = (inForce: Outline, next: Outline): Suspicion | undefined => {
  const gone = [...inForce.given].filter((path) => {
    if (next.given.has(path) || !next.given.has(parentOf(path))) return false;
    return inForce.effective.get(path) !== next.effective.get(path);
  });
  const come = [...next.unknown].filter((path) => !inForce.unknown.has(path));
  if (gone.length === 0 || come.length === 0) return undefined;
  return { gone: [...new Set(gone.map((path) => path.slice(path.lastIndexOf(separator) + 1)))], come };
};
