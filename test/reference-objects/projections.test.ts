import { describe, expect, it } from 'vitest';
import { clientProjections } from './client-projections.ts';
import { controllerProjections } from './controller-projections.ts';
import { libraryProjections } from './library-projections.ts';
import { runBare, runProjection } from './projection.ts';

// Passes upstream's objects, with every field set, through all our readers. See tools/reference-objects/README.md.

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
const emptyFields = (full: unknown, bare: unknown, path = ''): readonly string[] => {
  if (isEmpty(full)) return [path];
  const members = membersOf(full);
  if (members.length === 0) return full === bare ? [path] : [];
  return members.flatMap(([key, value]) =>
    emptyFields(value, memberOf(bare, key), path === '' ? key : `${path}.${key}`),
  );
};

const sorted = (texts: Iterable<string>): readonly string[] => [...new Set(texts)].toSorted();

const projections = [...controllerProjections, ...libraryProjections, ...clientProjections];

describe.each(projections.map((projection) => [projection.name, projection] as const))('%s', (_name, projection) => {
  const { missing = [], empty = [] } = projection.exceptions ?? {};

  it('reads no key that upstream does not have', async () => {
    const { reads } = await runProjection(projection);
    const unknown = reads.filter(({ found }) => found === 'missing');
    expect(reads).not.toEqual([]);
    expect(sorted(unknown.map(({ path }) => path))).toEqual(sorted(missing));
  });

  it('finds a value for every field', async () => {
    const { full } = await runProjection(projection);
    expect(sorted(emptyFields(full, await runBare(projection)))).toEqual(sorted(empty));
  });
});
