import { type Path, fieldsOf, nearest } from './rules/index.ts';

/** The fields that a configuration file sets, and all values with defaults. Distinguishes a field that was misspelt from one that was removed. */
export interface FieldValues {
  /** Values of the known fields that the file sets, as JSON, by path. */
  readonly given: ReadonlyMap<string, string>;
  /** Values of all known fields, including defaults, as JSON, by path. */
  readonly effective: ReadonlyMap<string, string>;
  /** Paths of the unknown fields, except those that are recognized as misspellings of a known one. */
  readonly unknown: ReadonlySet<string>;
}

/** Identifies an item of a list by its `ref` or `type`, if it has one, so that it stays the same item when the list is reordered. */
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

/** `given` is the file in the schema's spelling, without unknown fields; `effective` is the same with all defaults. */
export const fieldValuesOf = (given: unknown, effective: unknown, unknown: readonly Path[]): FieldValues => ({
  given: byPath(given),
  effective: byPath(effective),
  unknown: new Set(unknown.map((path) => JSON.stringify(path))),
});

/** An unknown field that replaces a known one of nearly the same spelling. */
export interface Misspelling {
  /** Path of the unknown field, as spelt in the file. */
  readonly path: Path;
  /** Name of the known field. */
  readonly meant: string;
  /** Sets the known field to its previous value. */
  readonly keep: () => void;
}

/** Returns the fields of the object at `path` of the file, and its path in an outline. Names match in any case, as everywhere in the file. */
const objectAt = (value: unknown, path: Path): { readonly fields: Record<string, unknown>; readonly at: string } => {
  let [found, at] = [value, ''];
  for (const step of path) {
    if (typeof step === 'number') {
      const item: unknown = Array.isArray(found) ? found[step] : undefined;
      [found, at] = [item, `${at}${separator}${nameOfItem(item, step)}`];
    } else {
      const fields = fieldsOf(found);
      const key = step in fields ? step : Object.keys(fields).find((name) => name.toLowerCase() === step.toLowerCase());
      [found, at] = [key === undefined ? undefined : fields[key], `${at}${separator}${key ?? step}`];
    }
  }
  return { fields: fieldsOf(found), at };
};

/**
 * Finds fields of the configuration in force that are misspelt in `value`, whose outline is `next`. A misspelt field is gone, its value would change, and
 * its object has a new unknown field of nearly the same name. A field that was just removed, or one that a later version may know, is no misspelling.
 */
export const findMisspellings = (
  inForce: FieldValues,
  next: FieldValues,
  { value, unknown }: { readonly value: unknown; readonly unknown: readonly Path[] },
): readonly Misspelling[] => {
  const gone = [...inForce.given].filter(
    ([path]) => !next.given.has(path) && inForce.effective.get(path) !== next.effective.get(path),
  );
  return unknown.flatMap((path): Misspelling[] => {
    const name = path.at(-1);
    if (typeof name !== 'string' || inForce.unknown.has(JSON.stringify(path))) return [];
    const { fields, at } = objectAt(value, path.slice(0, -1));
    const siblings = new Map(
      gone.flatMap(([was, form]) => {
        return parentOf(was) === at ? [[was.slice(was.lastIndexOf(separator) + 1), form] as const] : [];
      }),
    );
    const meant = nearest(name, [...siblings.keys()]);
    if (meant === undefined) return [];
    const form = siblings.get(meant) ?? 'null';
    return [{ path, meant, keep: () => void (fields[meant] = JSON.parse(form) as unknown) }];
  });
};
