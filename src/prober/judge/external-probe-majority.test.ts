import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ExternalProbeFacts,
  type ExternalProbeResult,
  createExternalProbeRegistry,
  isFaultOurs,
  externalProbeResultOf,
} from './external-probe-majority.ts';

describe('the external probe of one shoot', () => {
  it.each([
    [{ state: 'unknown' }, 'unknown'],
    [{ state: 'reachable', renewedSince: 5_000 }, 'reachable'],
    [{ state: 'unreachable', failingSince: 5_000 }, 'unreachable'],
    // The lease was certainly renewed, but perhaps before the first failure.
    [{ state: 'unreachable', failingSince: 5_000, renewedSince: 4_999 }, 'unreachable'],
    [{ state: 'unreachable', failingSince: 5_000, renewedSince: 5_000 }, 'unreachable-for-us'],
    // The address has responded since, but not often enough.
    [{ state: 'unreachable', renewedSince: 5_000 }, 'unreachable'],
  ] as const)('%o: %s', (facts, result) => {
    expect(externalProbeResultOf(facts)).toBe(result);
  });
});

const resultsOf = (counts: Partial<Record<ExternalProbeResult, number>>): readonly ExternalProbeResult[] =>
  Object.entries(counts).flatMap(([result, count]) =>
    Array.from({ length: count }, () => result as ExternalProbeResult),
  );

describe('the fault is ours', () => {
  it.each([
    [{}, false],
    [{ 'unreachable-for-us': 2 }, false],
    [{ 'unreachable-for-us': 3 }, true],
    [{ 'unreachable-for-us': 3, reachable: 2 }, true],
    [{ 'unreachable-for-us': 3, reachable: 3 }, false],
    [{ 'unreachable-for-us': 4, reachable: 3 }, true],
    // Addresses of shoots whose leases are not renewed either do not show it.
    [{ unreachable: 100 }, false],
    [{ 'unreachable-for-us': 3, unreachable: 3 }, false],
    [{ 'unreachable-for-us': 4, unreachable: 3 }, true],
    // Addresses in an unknown state do not count.
    [{ 'unreachable-for-us': 3, unknown: 100 }, true],
  ])('with %o: %s', (counts, expected) => {
    expect(isFaultOurs(resultsOf(counts))).toBe(expected);
  });

  it('never in an outage of the whole seed, in which leases are not renewed', () => {
    const others = fc.array(fc.constantFrom<ExternalProbeResult>('reachable', 'unreachable', 'unknown'));
    fc.assert(fc.property(others, (all) => !isFaultOurs([...all, 'unreachable-for-us', 'unreachable-for-us'])));
  });
});

describe('the registry', () => {
  const unreachable: ExternalProbeFacts = { state: 'unreachable', failingSince: 1, renewedSince: 2 };

  it('reports each change once, and only changes', () => {
    const heard: boolean[] = [];
    const registry = createExternalProbeRegistry({ initial: [], onChange: (isOurs) => heard.push(isOurs) });
    for (const name of ['a', 'b', 'c', 'c', 'd']) registry.set(name, unreachable);
    expect([heard, registry.faultIsOurs()]).toEqual([[true], true]);
    registry.set('a', { state: 'reachable' });
    expect(heard).toEqual([true]);
    registry.forget('b');
    registry.forget('b');
    expect([heard, registry.faultIsOurs()]).toEqual([[true, false], false]);
  });

  it('starts with the facts of the previous registry', () => {
    const heard: boolean[] = [];
    const initial = ['a', 'b', 'c'].map((name) => [name, unreachable] as const);
    const registry = createExternalProbeRegistry({ initial, onChange: (isOurs) => heard.push(isOurs) });
    expect(registry.faultIsOurs()).toBe(true);
    registry.set('a', unreachable);
    expect(heard).toEqual([]);
    registry.close();
    registry.forget('a');
    expect([heard, registry.faultIsOurs()]).toEqual([[], false]);
  });
});
