import { type Path, fieldsOf, nearest } from './rules/index.ts';

/** The fields that a configuration file sets itself, and their values with defaults. Tells a misspelt field from one that was removed. */
export interface Outline {
  /** The known fields that the file has, as JSON by path. */
  readonly given: ReadonlyMap<string, string>;
  /** What they and all others come to, defaults filled in, as JSON by path. */
  readonly effective: ReadonlyMap<string, string>;
  /** Paths of the fields that nobody knows, but for those that are taken for a known one. */
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
export const outlineOf = (given: unknown, effective: unknown, unknown: readonly Path[]): Outline => ({
  given: byPath(given),
  effective: byPath(effective),
  unknown: new Set(unknown.map((path) => JSON.stringify(path))),
});

/** A known field that is gone, with a field in its place that nobody knows and that is spelt nearly so. */
export interface Misspelling {
  /** Of the unknown field, as the file has it. */
  readonly path: Path;
  /** Name of the known field. */
  readonly meant: string;
  /** Gives the known field the value that it had. */
  readonly keep: () => void;
}

/** The fields of the object at `path` of the file, and the path of an outline to it. Names match in any case, as in the file. */
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
 * Fields of the file in force that `next`, the outline of `value`, has lost by misspelling them: each is gone, its value would change, and in the same place
 * a field has come that nobody knows, spelt nearly like it. What was taken out, and what a later version may know, is no misspelling.
 */
export const findMisspellings = (
  inForce: Outline,
  next: Outline,
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
