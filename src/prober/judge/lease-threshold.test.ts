import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JudgedLease } from './lease-expiry.ts';
import { defaultSettings, disturbed, undisturbed } from '../testing/probe-run.ts';
import {
  canOnlyBeHealthy,
  earliestPossibleThreshold,
  earliestWrongClocksDeadline,
  nthSmallest,
  reachesThreshold,
  share,
  thresholdInstant,
  wrongClocksDeadline,
} from './lease-threshold.ts';

const now = 100_000;
const judgedAt = (expiresAt: readonly number[]): readonly JudgedLease[] =>
  expiresAt.map((at, index) => ({
    name: `node-${String(index + 1)}`,
    renewedAt: at - 30_000,
    expiresAt: at,
    expired: now >= at,
    firstSeen: false,
    renewed: false,
    wrongClock: false,
  }));
const settingsOf = (nodeLeaseFailureFraction: number) => ({ ...defaultSettings, nodeLeaseFailureFraction });

describe('reaches', () => {
  it.each([
    [3, 5, 0.6, true],
    [6, 10, 0.6, true],
    [599, 1000, 0.6, false],
    [600, 1000, 0.6, true],
    [1, 2, 0.6, false],
    [1, 2, 0.5, true],
    [1, 100, 0.01, true],
    [0, 100, 0.01, false],
    [99, 100, 1, false],
    [100, 100, 1, true],
    [7, 10, 0.7, true],
    [1, 3, 0.3333333333333333, true],
  ])('%d of %d with fraction %d: %s', (expired, candidates, fraction, expected) => {
    expect(reachesThreshold({ expired, candidates }, settingsOf(fraction))).toBe(expected);
  });
});

const fractions = fc.constantFrom(0.01, 0.3, 0.5, 0.51, 0.6, 0.75, 1);
const instants = fc.array(
  fc.oneof(fc.integer({ min: now - 20_000, max: now + 30_000 }), fc.constant(Number.NEGATIVE_INFINITY)),
  { maxLength: 6 },
);

/** All subsets of two or more leases. */
const subsets = (leases: readonly JudgedLease[]): readonly (readonly JudgedLease[])[] =>
  Array.from({ length: 2 ** leases.length }, (_, bits) =>
    leases.filter((__, index) => (bits >> index) % 2 === 1),
  ).filter(({ length }) => length >= 2);

const reachesAt = (leases: readonly JudgedLease[], at: number, fraction: number): boolean =>
  leases.filter(({ expiresAt }) => at >= expiresAt).length / leases.length >= fraction;

describe('canOnlyBeHealthy', () => {
  it('equals a check of every subset, and is false if dependents are disturbed', () => {
    fc.assert(
      fc.property(instants, fractions, (expiresAt, fraction) => {
        const leases = judgedAt(expiresAt);
        const worst = subsets(leases).some((subset) => reachesAt(subset, now, fraction));
        expect(canOnlyBeHealthy(leases, undisturbed, settingsOf(fraction))).toBe(!worst);
        expect(canOnlyBeHealthy(leases, disturbed, settingsOf(fraction))).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('instants', () => {
  it('are the first at which a set, or any subset of two or more, reaches the threshold', () => {
    fc.assert(
      fc.property(instants, fractions, (expiresAt, fraction) => {
        const leases = judgedAt(expiresAt);
        const firstOf = (sets: readonly (readonly JudgedLease[])[]) =>
          [...expiresAt]
            .sort((a, b) => (a < b ? -1 : 1))
            .find((at) => sets.some((set) => reachesAt(set, at, fraction)));
        expect(earliestPossibleThreshold(leases, settingsOf(fraction))).toBe(firstOf(subsets(leases)));
        expect(thresholdInstant(leases, settingsOf(fraction))).toBe(firstOf([leases]));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are undefined if nothing can expire', () => {
    expect(earliestPossibleThreshold([], defaultSettings)).toBeUndefined();
    expect(earliestPossibleThreshold(judgedAt([now]), defaultSettings)).toBeUndefined();
    expect(thresholdInstant([], defaultSettings)).toBeUndefined();
  });
});

it('share counts the expired leases', () => {
  expect(share(judgedAt([now - 1, now, now + 1]))).toBe('2/3');
  expect(share([])).toBe('0/0');
});

describe('wrong clocks', () => {
  const withWrong = (wrong: number, all: number): readonly JudgedLease[] =>
    judgedAt(Array.from({ length: all }, () => now + 20_000)).map((lease, index) => ({
      ...lease,
      wrongClock: index < wrong,
    }));
  const soon = now + 3_000;

  it.each([
    { wrong: 0, all: 0, eager: undefined, lazy: undefined },
    { wrong: 0, all: 100, eager: undefined, lazy: undefined },
    { wrong: 1, all: 1, eager: undefined, lazy: undefined },
    { wrong: 1, all: 2, eager: soon, lazy: soon },
    { wrong: 1, all: 4, eager: soon, lazy: soon },
    { wrong: 1, all: 5, eager: undefined, lazy: soon },
    { wrong: 24, all: 100, eager: undefined, lazy: soon },
    { wrong: 25, all: 100, eager: soon, lazy: soon },
    { wrong: 3, all: 3, eager: soon, lazy: soon },
  ])('$wrong of $all: $eager if all are candidates, $lazy if some of them are', (row) => {
    const leases = withWrong(row.wrong, row.all);
    expect(wrongClocksDeadline(leases, now)).toBe(row.eager);
    expect(earliestWrongClocksDeadline(leases, now)).toBe(row.lazy);
  });

  it('of an unknown set of candidates equal a check of every subset', () => {
    const clocks = fc.array(fc.boolean(), { maxLength: 6 });
    fc.assert(
      fc.property(clocks, (wrong) => {
        const leases = judgedAt(wrong.map(() => now)).map((lease, index) => ({ ...lease, wrongClock: wrong[index]! }));
        const worst = subsets(leases).some((subset) => wrongClocksDeadline(subset, now) !== undefined);
        expect(earliestWrongClocksDeadline(leases, now)).toBe(worst ? soon : undefined);
      }),
    );
  });
});

describe('the n-th smallest', () => {
  it.each([
    [[3, 1, 2], 1, 1],
    [[3, 1, 2], 3, 3],
    [[10, 9, 100], 2, 10],
    [[5, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY], 1, Number.NEGATIVE_INFINITY],
    [[1], 2, undefined],
    [[], 1, undefined],
    [[1], 0, undefined],
  ])('of %o number %i is %s', (values, n, expected) => {
    const before = [...values];
    expect(nthSmallest(values, n)).toBe(expected);
    expect(values).toEqual(before);
  });
});
