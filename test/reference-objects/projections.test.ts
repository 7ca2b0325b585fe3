import { describe, expect, it } from 'vitest';
import { clientProjections } from './client-projections.ts';
import { controllerProjections } from './controller-projections.ts';
import { libraryProjections } from './library-projections.ts';
import { emptyFields } from './emptiness.ts';
import { runBare, runProjection } from './projection.ts';

// Passes upstream's objects, with every field set, through all our readers. See tools/reference-objects/README.md.

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
