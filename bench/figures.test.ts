import { describe, expect, it } from 'vitest';
import { protectionOf, restorationOf } from './parts/outage.ts';
import { failureOf, markdownOf } from './parts/race-figures.ts';
import { kinds } from './parts/race-kinds.ts';
import { type RacedOutage, cycleMs, scheduleOf } from './parts/race-round.ts';
import type { ScaleWrite } from './worlds/seed.ts';

const write = (namespace: string, at: number, [from, to]: readonly [number, number]): ScaleWrite => ({
  ...{ namespace, at, from, to },
});

describe('the mass outage', () => {
  it('is measured from the time at which enough leases have expired, in the shoots whose Deployments were all scaled down', () => {
    // 0.6 of five leases is three: the expiry of the third lease counts, 30 s after its renewal.
    const leases = [
      { namespace: 'a', renewals: [5_000, 1_000, 4_000, 2_000, 3_000] },
      { namespace: 'b', renewals: [7_000, 7_000, 7_000, 7_000, 7_000] },
    ];
    const downs = [33_100, 33_200, 34_500].map((at) => write('a', at, [1, 0]));
    const writes = [...downs, write('b', 37_300, [1, 0]), write('a', 60_000, [0, 1])];
    expect(protectionOf({ leases, writes }, 1)).toEqual({ first: [100], last: [1_500] });
  });

  it('takes the threshold from scaled times', () => {
    const leases = [{ namespace: 'a', renewals: [1_000, 1_000] }];
    const writes = [4_050, 4_100, 4_250].map((at) => write('a', at, [1, 0]));
    expect(protectionOf({ leases, writes }, 0.1).last).toEqual([250]);
  });

  it('ends for a shoot with its last scale-up', () => {
    const writes = [
      write('a', 2_000, [0, 1]),
      write('a', 9_000, [0, 2]),
      write('b', 4_000, [0, 1]),
      write('b', 8_000, [1, 0]),
    ];
    expect(restorationOf({ writes }, 1_000)).toEqual({ deployments: 3, last: [8_000, 3_000] });
  });
});

describe('the race', () => {
  const outage = (parts: Partial<RacedOutage>): RacedOutage => ({
    ...{ kind: 'plain', shoot: 'a', isProtected: true, silentSince: 0, nodes: 20, unknown: 0 },
    ...parts,
  });

  it.each<readonly [string | undefined, Partial<RacedOutage>]>([
    [undefined, { marginMs: 8_000 }],
    ['20 nodes turned Unknown with the prober', { unknown: 20 }],
    ['the prober did not scale KCM down', {}],
    ['it was not restored', { marginMs: 8_000, restoredAfterMs: 'never' }],
    ['only 19 nodes turned Unknown without', { isProtected: false, unknown: 19 }],
    [undefined, { isProtected: false, unknown: 20 }],
  ])('is lost: %s', (failure, parts) => {
    expect(failureOf(outage(parts))).toBe(failure);
  });

  it('has a row for each kind, without the unprotected shoot, and without margins if the program did nothing', () => {
    const text = markdownOf([
      ...[8_000, 9_500, 9_000].map((marginMs) => outage({ marginMs })),
      outage({ isProtected: false, unknown: 20 }),
      outage({ kind: 'leader-killed', unknown: 20 }),
    ]);
    expect(text).toMatch(/\| plain +\| 3 +\| 3 +\| 0 +\| 8.00 +\| 9.00 +\| 9.50 +\|/);
    expect(text).toMatch(/\| leader-killed +\| 1 +\| 0 +\| 20 +\| - +\| - +\| - +\|/);
  });

  /** The times of five shoots in four rounds. */
  const schedules = (kind: 'plain' | 'leader-killed') =>
    Array.from({ length: 4 }, (_, round) => scheduleOf(kinds[kind], [round, 4], 5));
  /** The twentieth of the window in which each of the times lies. */
  const twentieths = (times: readonly number[], from: number, windowMs: number) =>
    times.map((at) => Math.floor(((at - from) / windowMs) * 20)).toSorted((a, b) => a - b);
  const each = Array.from({ length: 20 }, (_, part) => part);

  it('spreads the cuts of the shoots evenly over a whole cycle', () => {
    const cuts = schedules('plain').flatMap(({ cutsAfterMs }) => cutsAfterMs);
    expect(twentieths(cuts, 0, cycleMs)).toEqual(each);
  });

  it('spreads the faults of the leader evenly, 30 s before to 5 s after thresholds', () => {
    // On average, a shoot reaches its threshold 26 s after its cut.
    const faults = schedules('leader-killed').flatMap(({ cutsAfterMs, faultAfterMs }) =>
      cutsAfterMs.map((cut) => faultAfterMs - cut - 26_000),
    );
    expect(twentieths(faults, -30_000, 35_000)).toEqual(each);
  });
});
