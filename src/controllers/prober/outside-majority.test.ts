import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PathFacts, type Standing, createPathRegistry, isFaultOurs, standingOf } from './outside-majority.ts';

describe('what a path says of all of them', () => {
  it.each([
    [{ state: 'unknown' }, 'unknown'],
    [{ state: 'whole', renewedSince: 5_000 }, 'whole'],
    [{ state: 'broken', failingSince: 5_000 }, 'broken'],
    // Renewed for certain only since before it failed.
    [{ state: 'broken', failingSince: 5_000, renewedSince: 4_999 }, 'broken'],
    [{ state: 'broken', failingSince: 5_000, renewedSince: 5_000 }, 'broken-for-us'],
    // Answered since, but not often enough.
    [{ state: 'broken', renewedSince: 5_000 }, 'broken'],
  ] as const)('%o: %s', (facts, standing) => {
    expect(standingOf(facts)).toBe(standing);
  });
});

const standings = (counts: Partial<Record<Standing, number>>): readonly Standing[] =>
  Object.entries(counts).flatMap(([standing, count]) => Array.from({ length: count }, () => standing as Standing));

describe('the fault is ours', () => {
  it.each([
    [{}, false],
    [{ 'broken-for-us': 2 }, false],
    [{ 'broken-for-us': 3 }, true],
    [{ 'broken-for-us': 3, whole: 2 }, true],
    [{ 'broken-for-us': 3, whole: 3 }, false],
    [{ 'broken-for-us': 4, whole: 3 }, true],
    // Those in whose shoots leases do not renew either are no sign of it.
    [{ broken: 100 }, false],
    [{ 'broken-for-us': 3, broken: 3 }, false],
    [{ 'broken-for-us': 4, broken: 3 }, true],
    // Those of which nothing is known do not count.
    [{ 'broken-for-us': 3, unknown: 100 }, true],
  ])('with %o: %s', (counts, expected) => {
    expect(isFaultOurs(standings(counts))).toBe(expected);
  });

  it('never in an outage of the whole seed, where leases do not renew', () => {
    const others = fc.array(fc.constantFrom<Standing>('whole', 'broken', 'unknown'));
    fc.assert(fc.property(others, (all) => !isFaultOurs([...all, 'broken-for-us', 'broken-for-us'])));
  });
});

describe('the registry', () => {
  const broken: PathFacts = { state: 'broken', failingSince: 1, renewedSince: 2 };

  it('tells each change once, and only changes', () => {
    const told: boolean[] = [];
    const registry = createPathRegistry({ initial: [], onChange: (isOurs) => told.push(isOurs) });
    for (const name of ['a', 'b', 'c', 'c', 'd']) registry.set(name, broken);
    expect([told, registry.faultIsOurs()]).toEqual([[true], true]);
    registry.set('a', { state: 'whole' });
    expect(told).toEqual([true]);
    registry.forget('b');
    registry.forget('b');
    expect([told, registry.faultIsOurs()]).toEqual([[true, false], false]);
  });

  it('goes on from what was known before', () => {
    const told: boolean[] = [];
    const initial = ['a', 'b', 'c'].map((name) => [name, broken] as const);
    const registry = createPathRegistry({ initial, onChange: (isOurs) => told.push(isOurs) });
    expect(registry.faultIsOurs()).toBe(true);
    registry.set('a', broken);
    expect(told).toEqual([]);
    registry.close();
    registry.forget('a');
    expect([told, registry.faultIsOurs()]).toEqual([[], false]);
  });
});
