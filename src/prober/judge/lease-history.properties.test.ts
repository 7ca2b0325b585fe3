import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../kubernetes/api/lease.ts';
import { type LeaseHistory, distrustTimestamps, emptyLeaseHistory, isAnyRenewed, resetAges } from './lease-history.ts';
import { type JudgedLease, recordAndJudgeLeases } from './lease-expiry.ts';

const expiryAgeMs = 30_000;
const renewEveryMs = 10_000;
const origin = Date.parse('2026-11-21T06:00:00Z');

/** Constant errors of the clocks against the true time. */
interface Clocks {
  readonly node: number;
  readonly ours: number;
}

interface ObservationStep {
  readonly gap: number;
  readonly roundTrip: number;
}

const clockError = fc.oneof(
  fc.constant(0),
  fc.integer({ min: -15_000, max: 15_000 }),
  fc.integer({ min: -600_000, max: 600_000 }),
);
const clocks: fc.Arbitrary<Clocks> = fc.record({ node: clockError, ours: clockError });

/** Consecutive observations. A gap is the time from the request for one list to the arrival of the next. */
const observationSteps = (maxGap: number): fc.Arbitrary<readonly ObservationStep[]> =>
  fc.array(fc.record({ gap: fc.integer({ min: 1_000, max: maxGap }), roundTrip: fc.integer({ min: 0, max: 999 }) }), {
    minLength: 2,
    maxLength: 12,
  });

/** Lease of a kubelet that last renewed at the true time `renewedAt`. */
const leaseOf = (renewedAt: number, { node }: Clocks, name = 'node-1'): Lease => ({
  name,
  renewTime: (origin + renewedAt + node) * 1_000,
});

interface Watched {
  readonly judged: JudgedLease;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Observes one lease. `renewedBy` returns its latest renewal at a given time. */
const watch = (
  steps: readonly ObservationStep[],
  { clocks: errors, renewedBy }: { readonly clocks: Clocks; readonly renewedBy: (at: number) => number },
): readonly Watched[] => {
  let history: LeaseHistory = emptyLeaseHistory;
  let previous = 100_000;
  return steps.map(({ gap, roundTrip }) => {
    const endedAt = previous + gap;
    const startedAt = endedAt - roundTrip;
    previous = startedAt;
    const observation = { startedAt, endedAt, wall: origin + endedAt + errors.ours };
    const observed = recordAndJudgeLeases(history, [leaseOf(renewedBy(startedAt), errors)], {
      observation,
      expiryAgeMs,
    });
    history = observed.history;
    const [judged] = observed.judged;
    if (judged === undefined) throw new Error('nothing judged');
    return { judged, startedAt, endedAt };
  });
};

const renewsFrom = (phase: number) => (at: number) => phase + Math.floor((at - phase) / renewEveryMs) * renewEveryMs;

describe('a kubelet that renews every 10 s', () => {
  // A wrong timestamp that happens to fall between two observations counts, so it may be too old by the time between them plus the
  // tolerance; the next renewal comes an interval later.
  const maxGap = expiryAgeMs - renewEveryMs - 2_000 - 1;

  it('never expires after it was seen renewed, however wrong the clocks are', () => {
    fc.assert(
      fc.property(observationSteps(maxGap), clocks, fc.integer({ min: 0, max: 9_999 }), (steps, errors, phase) => {
        const watched = watch(steps, { clocks: errors, renewedBy: renewsFrom(phase) });
        const changed = watched.findIndex(({ judged }) => judged.renewed);
        const after = changed === -1 ? [] : watched.slice(changed);
        expect(after.filter(({ judged }) => judged.expired)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('never expires at all if its clock and ours are right, however far apart the observations are', () => {
    const right = { node: 0, ours: 0 };
    fc.assert(
      fc.property(observationSteps(100_000), fc.integer({ min: 0, max: 9_999 }), (steps, phase) => {
        const watched = watch(steps, { clocks: right, renewedBy: renewsFrom(phase) });
        expect(watched.filter(({ judged }) => judged.expired)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a lease that is no longer renewed', () => {
  it('is expired from the first observation an expiry age after it was seen renewed', () => {
    fc.assert(
      fc.property(
        observationSteps(20_000),
        clocks,
        fc.integer({ min: 0, max: 9_999 }),
        fc.integer({ min: 100_000, max: 180_000 }),
        (steps, errors, phase, cutOffAt) => {
          const renewedBy = (at: number) => renewsFrom(phase)(Math.min(at, cutOffAt));
          const watched = watch(steps, { clocks: errors, renewedBy });
          const lastChange = watched.findLast(({ judged }) => judged.renewed);
          if (lastChange === undefined) return;
          const late = watched.filter(({ startedAt }) => startedAt >= lastChange.endedAt + expiryAgeMs);
          expect(late.filter(({ judged }) => !judged.expired)).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('expires exactly when its true age reaches the expiry age, if the clocks are right', () => {
    fc.assert(
      fc.property(
        observationSteps(40_000),
        fc.integer({ min: 0, max: 9_999 }),
        fc.integer({ min: 60_000, max: 250_000 }),
        (steps, phase, cutOffAt) => {
          const renewedBy = (at: number) => renewsFrom(phase)(Math.min(at, cutOffAt));
          for (const { judged, startedAt } of watch(steps, { clocks: { node: 0, ours: 0 }, renewedBy })) {
            expect(judged.expired).toBe(startedAt - renewedBy(startedAt) >= expiryAgeMs);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('stays expired in later and more frequent observations', () => {
    fc.assert(
      fc.property(
        observationSteps(20_000),
        clocks,
        fc.integer({ min: -50_000, max: 100_000 }),
        (steps, errors, renewedAt) => {
          const watched = watch(steps, { clocks: errors, renewedBy: () => renewedAt });
          const firstExpired = watched.findIndex(({ judged }) => judged.expired);
          const after = firstExpired === -1 ? [] : watched.slice(firstExpired);
          expect(after.every(({ judged }) => judged.expired)).toBe(true);
          expect(new Set(watched.map(({ judged }) => judged.expiresAt)).size).toBe(1);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('every observation', () => {
  const leases = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      renewedAt: fc.option(fc.integer({ min: 0, max: 90_000 })),
    }),
    { selector: ({ name }) => name },
  );

  it('judges each listed lease once, keeps no others, and expires a lease exactly at its instant', () => {
    fc.assert(
      fc.property(fc.array(leases, { minLength: 1, maxLength: 5 }), clocks, (lists, errors) => {
        let history: LeaseHistory = emptyLeaseHistory;
        for (const [index, list] of lists.entries()) {
          const endedAt = 90_000 + index * 10_000;
          const items = list.map(({ name, renewedAt }) =>
            renewedAt === null ? { name } : leaseOf(renewedAt, errors, name),
          );
          const observation = { startedAt: endedAt - 500, endedAt, wall: origin + endedAt + errors.ours };
          const known = new Set(history.names);
          const observed = recordAndJudgeLeases(history, items, { observation, expiryAgeMs });
          history = observed.history;
          expect(observed.judged.map(({ name }) => name)).toEqual(items.map(({ name }) => name));
          expect(history.names).toEqual(items.map(({ name }) => name));
          for (const judged of observed.judged) {
            expect(judged.firstSeen).toBe(!known.has(judged.name));
            expect(judged.expired).toBe(judged.expiresAt <= observation.startedAt);
            expect(judged.expiresAt).toBeLessThanOrEqual(endedAt + expiryAgeMs);
          }
        }
      }),
    );
  });

  it('expires no lease within an expiry age after downtime, and then at once those not renewed', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 90_000 }),
        fc.integer({ min: 0, max: 60_000 }),
        clocks,
        (renewedAt, later, errors) => {
          const lease = leaseOf(renewedAt, errors);
          const runAt = (at: number) => ({ startedAt: at, endedAt: at, wall: origin + at + errors.ours });
          const { history } = recordAndJudgeLeases(emptyLeaseHistory, [lease], {
            observation: runAt(90_000),
            expiryAgeMs,
          });
          const forgiven = resetAges(history, 120_000);
          const { judged } = recordAndJudgeLeases(forgiven, [lease], {
            observation: runAt(120_000 + later),
            expiryAgeMs,
          });
          expect(judged[0]?.expired).toBe(later >= expiryAgeMs);
        },
      ),
    );
  });
});

describe('the history', () => {
  interface Entry {
    readonly renewTime: number | undefined;
    readonly renewedAt: number;
    /** End of the first observation, if the lease was never seen renewed. */
    readonly neverSeenRenewed: number | undefined;
  }

  /** The history as one entry per name. */
  const entriesOf = (history: LeaseHistory): ReadonlyMap<string, Entry> =>
    new Map(
      history.names.map((name, place) => {
        const [renewTime = 0, renewedAt = 0] = [history.renewTimes[place], history.renewedAt[place]];
        const known = Number.isFinite(renewTime) ? renewTime : undefined;
        return [name, { renewTime: known, renewedAt, neverSeenRenewed: history.neverSeenRenewed.get(name) }];
      }),
    );

  const renewals = fc.integer({ min: 60, max: 100 }).map((seconds) => seconds * 1_000);
  const list = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
      renewedAt: fc.option(renewals, { freq: 8 }),
    }),
    { selector: ({ name }) => name, maxLength: 8 },
  );
  const step = fc.record({ list, inOrder: fc.boolean(), event: fc.constantFrom('none', 'downtime', 'distrust') });

  it('follows each lease by its name, at any place in the lists', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 6 }), (steps) => {
        let history: LeaseHistory = emptyLeaseHistory;
        for (const [index, { list: listed, inOrder, event }] of steps.entries()) {
          const sorted = inOrder ? listed.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : listed;
          const items = sorted.map(({ name, renewedAt }) =>
            renewedAt === null ? { name } : leaseOf(renewedAt, { node: 0, ours: 0 }, name),
          );
          const at = 100_000 + index * 10_000;
          if (event === 'downtime') history = resetAges(history, at - 5_000);
          if (event === 'distrust') {
            history = distrustTimestamps(history, { disproved: new Set(['a', 'b']), expiryAgeMs });
          }
          const options = { observation: { startedAt: at, endedAt: at, wall: origin + at }, expiryAgeMs };
          const whole = recordAndJudgeLeases(history, items, options);
          const before = entriesOf(history);
          for (const [place, item] of items.entries()) {
            // The judgement of a lease does not depend on the other leases.
            const known = before.get(item.name);
            const alone: LeaseHistory = {
              ...history,
              names: known === undefined ? [] : [item.name],
              renewTimes: known === undefined ? [] : [known.renewTime ?? Number.NEGATIVE_INFINITY],
              renewedAt: known === undefined ? [] : [known.renewedAt],
              neverSeenRenewed: new Map(
                known?.neverSeenRenewed === undefined ? [] : [[item.name, known.neverSeenRenewed]],
              ),
            };
            const only = recordAndJudgeLeases(alone, [item], options);
            expect(whole.judged[place]).toEqual(only.judged[0]);
            expect(entriesOf(whole.history).get(item.name)).toEqual(entriesOf(only.history).get(item.name));
            expect(only.judged[0]).toMatchObject({
              firstSeen: known === undefined,
              renewed: known !== undefined && known.renewTime !== item.renewTime,
            });
          }
          const names = new Set(['a', 'c', 'e']);
          const isRenewed = items.some(({ name, renewTime }) => {
            const known = names.has(name) ? before.get(name) : undefined;
            return known !== undefined && known.renewTime !== renewTime;
          });
          expect(isAnyRenewed(history, items, names)).toBe(isRenewed);
          expect(whole.history.names).toEqual(items.map(({ name }) => name));
          history = whole.history;
        }
      }),
      { numRuns: 500 },
    );
  });
});
