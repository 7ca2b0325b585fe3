import fc from 'fast-check';

/** Unexpected values that JSON can contain: of any type, of absurd size, or with names of Object.prototype. */
const poisons: readonly (() => unknown)[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, Number.POSITIVE_INFINITY, 2 ** 53].map((value) => () => value),
  ...['', ' ', '0', 'True', 'true', '__proto__', 'constructor', '\u0000', '\ud800', '40s', '-40s', '1e9h'].map(
    (text) => () => text,
  ),
  ...['2026-11-21T06:00:00.000000Z', '9999-99-99T99:99:99Z', '+275760-09-13T00:00:00.001Z', '0001-01-01'].map(
    (time) => () => time,
  ),
  () => 'x'.repeat(10_000),
  () => [],
  () => ({}),
  () => [null],
  () => [[]],
  () => [{}],
  () => ({ items: [] }),
  () => JSON.parse('{"__proto__":{"name":"x","annotations":{}},"constructor":1}') as unknown,
  () => JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown,
  () => JSON.parse(`${'{"spec":'.repeat(200)}1${'}'.repeat(200)}`) as unknown,
];

const strangeKeys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '', 'x'.repeat(1_000)];

type Container = Record<string, unknown>;

interface Place {
  readonly container: Container;
  readonly key: string;
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** Lists every place of a JSON value, outermost first, down to `depth` levels. */
const placesOf = (container: Container, depth = 12): readonly Place[] =>
  Object.entries(container).flatMap(([key, value]) => [
    { container, key },
    ...(isContainer(value) && depth > 0 ? placesOf(value, depth - 1) : []),
  ]);

export interface Mutation {
  /** Number of the place, modulo the number of places. */
  readonly at: number;
  readonly kind: 'replace' | 'remove' | 'insert';
  readonly poison: number;
  readonly key: string;
}

/** Generates one to `most` mutations of a value, for `mutate`. */
export const mutations = (most: number): fc.Arbitrary<readonly Mutation[]> =>
  fc.array(
    fc.record<Mutation>({
      at: fc.nat(100_000),
      kind: fc.constantFrom('replace', 'replace', 'remove', 'insert'),
      poison: fc.nat(poisons.length - 1),
      key: fc.constantFrom(...strangeKeys),
    }),
    { minLength: 1, maxLength: most },
  );

const put = (container: Container, key: string, value: unknown): void => {
  // An assignment to `__proto__` would set the prototype, which JSON never does.
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
};

const removeFrom = ({ container, key }: Place): void => {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else Reflect.deleteProperty(container, key);
};

/** Returns a copy of a JSON value with these mutations. */
export const mutate = (value: unknown, changes: readonly Mutation[]): unknown => {
  const root: Container = { value: structuredClone(value) };
  for (const { at, kind, poison, key } of changes) {
    const places = placesOf(root);
    const place = places[at % Math.max(1, places.length)];
    if (place === undefined) continue;
    const target = place.container[place.key];
    if (kind === 'remove') removeFrom(place);
    else if (kind === 'insert' && isContainer(target) && !Array.isArray(target)) put(target, key, poisons[poison]?.());
    else put(place.container, place.key, poisons[poison]?.());
  }
  return root.value;
};

/**
 * Checks random cases, and as many that are the same in every run. Returns the number of the latter by kind, so that an assertion on coverage
 * depends neither on chance nor on the speed of the machine.
 */
export const checkMany = <Case, Kind>(
  cases: fc.Arbitrary<Case>,
  check: (one: Case) => Kind,
  numRuns = 1_000,
): ReadonlyMap<Kind, number> => {
  const kinds = new Map<Kind, number>();
  const property = fc.property(cases, (one) => {
    const kind = check(one);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  });
  fc.assert(property, { numRuns });
  kinds.clear();
  fc.assert(property, { numRuns, seed: 1 });
  return kinds;
};
