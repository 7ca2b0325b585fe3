import { type FixtureObject, anyKey, readReference, referenceKinds } from './fixture.ts';

const isObject = (value: unknown): value is FixtureObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Paths of keys in `value` that are not in `reference`. */
const unknownIn = (value: unknown, reference: unknown, path: string): readonly string[] => {
  if (Array.isArray(value)) {
    const [item] = Array.isArray(reference) ? (reference as readonly unknown[]) : [];
    return item === undefined ? [path] : value.flatMap((entry) => unknownIn(entry, item, `${path}[]`));
  }
  if (!isObject(value)) return [];
  if (!isObject(reference)) return [path];
  return Object.entries(value).flatMap(([key, entry]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const known = Object.hasOwn(reference, key) ? key : anyKey;
    if (!Object.hasOwn(reference, known)) return [at];
    // A field that may contain anything has a string as its entry in the reference object.
    return known === anyKey && typeof reference[anyKey] === 'string' ? [] : unknownIn(entry, reference[known], at);
  });
};

const references = new Map<string, unknown>();

/** Reads the reference object of a kind; undefined if there is none. */
const referenceOf = (kind: string): unknown => {
  if (!references.has(kind)) {
    const name = [kind, `${kind}List`].find((known) => referenceKinds.includes(known));
    const object = name === undefined ? undefined : readReference(name).object;
    references.set(kind, name === kind ? object : (object?.items as readonly unknown[] | undefined)?.[0]);
  }
  return references.get(kind);
};

/** Finds the paths of keys that upstream's kind does not have. */
export const unknownKeys = (object: { readonly kind: string }): readonly string[] => {
  const reference = referenceOf(object.kind);
  return reference === undefined ? [''] : unknownIn(object, reference, '').map((path) => `${object.kind} ${path}`);
};
