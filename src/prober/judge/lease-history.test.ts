import { describe, expect, it } from 'vitest';
import type { Lease } from '../../kubernetes/api/lease.ts';
import {
  type LeaseHistory,
  type LeaseObservation,
  distrustTimestamps,
  emptyLeaseHistory,
  isAnyRenewed,
  resetAges,
} from './lease-history.ts';
import { recordAndJudgeLeases } from './lease-expiry.ts';

const expiryAgeMs = 30_000;
const tenMinutes = 600_000;
/** The true wall clock at monotonic 0. */
const origin = Date.parse('2026-11-21T06:00:00Z');

interface ObservationOptions {
  /** Time by which our wall clock is ahead of the true one. */
  readonly ours?: number;
  /** Time by which the API server's clock is ahead of the true one. */
  readonly server?: number;
  readonly roundTrip?: number;
}

const runAt = (
  endedAt: number,
  { ours = 0, server = 0, roundTrip = 0 }: ObservationOptions = {},
): LeaseObservation => ({
  startedAt: endedAt - roundTrip,
  endedAt,
  wall: origin + endedAt + ours,
  ...(ours === server ? {} : { skewMs: server - ours }),
});

/** Lease renewed at the true monotonic time `renewedAt` by a node whose clock is `ahead`. */
const leaseOf = (renewedAt: number, ahead = 0, name = 'node-1'): Lease => ({
  name,
  renewTime: (origin + renewedAt + ahead) * 1_000,
});

const judge = (history: LeaseHistory, lease: Lease, observation: LeaseObservation) => {
  const { judged, history: next } = recordAndJudgeLeases(history, [lease], { observation, expiryAgeMs });
  const [only] = judged;
  if (only === undefined) throw new Error('nothing judged');
  return { ...only, history: next };
};

/** The effective renewal, from which the lease's age counts. */
const renewal = (judged: { readonly expiresAt: number }) => judged.expiresAt - expiryAgeMs;

describe('the first observation of a lease', () => {
  interface Row {
    readonly what: string;
    readonly renewedAt?: number;
    readonly node?: number;
    readonly observation?: ObservationOptions;
    readonly effective: number;
  }
  // The observation is at 100 s; the kubelet renewed at 90 s.
  const rows: readonly Row[] = [
    { what: 'all clocks right', effective: 90_000 },
    { what: 'node 10 min fast: a renewal cannot be later than the observation', node: tenMinutes, effective: 100_000 },
    { what: 'node 10 min slow: its timestamp is the only evidence', node: -tenMinutes, effective: 90_000 - tenMinutes },
    { what: 'our clock 10 min ahead', observation: { ours: tenMinutes }, effective: 90_000 },
    { what: 'our clock 10 min behind', observation: { ours: -tenMinutes }, effective: 100_000 },
    { what: 'the API server 10 min ahead', observation: { server: tenMinutes }, effective: 90_000 },
    { what: 'the API server 10 min behind', observation: { server: -tenMinutes }, effective: 100_000 },
    { what: 'old by our clock (ahead) only', renewedAt: 85_000, observation: { ours: 20_000 }, effective: 85_000 },
    { what: 'old by both clocks', renewedAt: 60_000, observation: { ours: 5_000 }, effective: 60_000 },
    {
      what: 'old by both, the younger age counts',
      renewedAt: 60_000,
      observation: { server: 5_000 },
      effective: 60_000,
    },
    { what: 'the response took 5 s', observation: { roundTrip: 5_000 }, effective: 90_000 },
    {
      what: 'renewed while the request was in flight',
      renewedAt: 97_000,
      observation: { roundTrip: 5_000 },
      effective: 97_000,
    },
  ];

  it.each(rows)('$what', ({ renewedAt = 90_000, node = 0, observation, effective }) => {
    const judged = judge(emptyLeaseHistory, leaseOf(renewedAt, node), runAt(100_000, observation));
    expect(renewal(judged)).toBe(effective);
    expect(judged).toMatchObject({ firstSeen: true, renewed: false });
  });

  it.each([
    { age: 29_999, expired: false },
    { age: 30_000, expired: true },
    { age: 30_001, expired: true },
  ])('of age $age ms with an expiry age of 30 s: expired $expired', ({ age, expired }) => {
    expect(judge(emptyLeaseHistory, leaseOf(100_000 - age), runAt(100_000)).expired).toBe(expired);
  });

  it('is judged as of the request for the list: a slow response does not age the lease', () => {
    const observation = runAt(100_000, { roundTrip: 20_000 });
    expect(judge(emptyLeaseHistory, leaseOf(50_001), observation).expired).toBe(false);
    expect(judge(emptyLeaseHistory, leaseOf(50_000), observation).expired).toBe(true);
  });

  it('judges a lease without renewTime as expired', () => {
    const judged = judge(emptyLeaseHistory, { name: 'node-1' }, runAt(100_000));
    expect(judged).toMatchObject({ expired: true, expiresAt: Number.NEGATIVE_INFINITY, firstSeen: true });
  });
});

describe('a lease that changed', () => {
  interface Row {
    readonly what: string;
    /** Time of the renewal, between the observations at 100 s and at 110 s. */
    readonly renewedAt?: number;
    readonly node?: number;
    readonly observation?: ObservationOptions;
    readonly effective: number;
  }
  const rows: readonly Row[] = [
    { what: 'by a right clock counts from its timestamp', effective: 104_000 },
    { what: 'by a clock 10 min fast counts from the observation', node: tenMinutes, effective: 110_000 },
    { what: 'by a clock 10 min slow counts from the observation', node: -tenMinutes, effective: 110_000 },
    {
      what: 'seen with our clock 10 min ahead counts from the observation',
      observation: { ours: tenMinutes },
      effective: 110_000,
    },
    {
      what: 'seen with our clock 10 min behind counts from the observation',
      observation: { ours: -tenMinutes },
      effective: 110_000,
    },
    { what: 'up to 2 s before the previous observation counts from its timestamp', node: -6_000, effective: 98_000 },
    {
      what: 'more than 2 s before the previous observation counts from the observation',
      node: -6_001,
      effective: 110_000,
    },
    { what: 'up to 2 s after the observation counts from the observation', node: 8_000, effective: 110_000 },
    { what: 'more than 2 s after the observation counts from the observation', node: 8_001, effective: 110_000 },
    { what: 'at the time of the observation', renewedAt: 110_000, effective: 110_000 },
    {
      what: 'while the request was in flight',
      renewedAt: 109_500,
      observation: { roundTrip: 3_000 },
      effective: 109_500,
    },
  ];

  it.each(rows)('$what', ({ renewedAt = 104_000, node = 0, observation, effective }) => {
    const { history } = judge(emptyLeaseHistory, leaseOf(95_000, node), runAt(100_000));
    const judged = judge(history, leaseOf(renewedAt, node), runAt(110_000, observation));
    expect(renewal(judged)).toBe(effective);
    expect(judged).toMatchObject({ renewed: true, firstSeen: false, expired: false });
  });

  it('counts from its timestamp if that is later than the request for the previous list', () => {
    const { history } = judge(emptyLeaseHistory, leaseOf(85_000), runAt(100_000, { roundTrip: 10_000 }));
    expect(renewal(judge(history, leaseOf(91_000), runAt(105_000)))).toBe(91_000);
  });

  it('does not age because the wall clock jumped between the observations', () => {
    for (const jump of [tenMinutes, -tenMinutes, 6 * tenMinutes]) {
      const first = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000));
      const unchanged = judge(first.history, leaseOf(95_000), runAt(104_000, { ours: jump }));
      expect(renewal(unchanged)).toBe(95_000);
      expect(renewal(judge(unchanged.history, leaseOf(105_000), runAt(110_000, { ours: jump })))).toBe(110_000);
    }
  });

  it('counts from the observation if it had no renewTime before, unless its timestamp agrees', () => {
    const { history } = judge(emptyLeaseHistory, { name: 'node-1' }, runAt(100_000));
    expect(renewal(judge(history, leaseOf(104_000), runAt(110_000)))).toBe(104_000);
    expect(renewal(judge(history, leaseOf(104_000, -tenMinutes), runAt(110_000)))).toBe(110_000);
  });

  it('expires when it loses its renewTime', () => {
    const { history } = judge(emptyLeaseHistory, leaseOf(99_000), runAt(100_000));
    expect(judge(history, { name: 'node-1' }, runAt(110_000))).toMatchObject({ expired: true, renewed: true });
  });
});

describe('a lease that does not change', () => {
  it('keeps its effective renewal and expires exactly at its expiry age', () => {
    const slow = judge(emptyLeaseHistory, leaseOf(95_000, -tenMinutes), runAt(100_000));
    const renewed = judge(slow.history, leaseOf(105_000, -tenMinutes), runAt(110_000));
    const before = judge(renewed.history, leaseOf(105_000, -tenMinutes), runAt(139_999));
    expect(before).toMatchObject({ expired: false, renewed: false, firstSeen: false, expiresAt: 140_000 });
    expect(judge(before.history, leaseOf(105_000, -tenMinutes), runAt(140_000)).expired).toBe(true);
  });

  it('is judged by a changed expiry age at once', () => {
    const { history } = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000));
    const { judged } = recordAndJudgeLeases(history, [leaseOf(95_000)], {
      observation: runAt(105_000),
      expiryAgeMs: 10_000,
    });
    expect(judged).toMatchObject([{ expired: true, expiresAt: 105_000 }]);
  });
});

describe('the history', () => {
  it('forgets a deleted lease, and judges it by its timestamp when it is created again', () => {
    const first = recordAndJudgeLeases(emptyLeaseHistory, [leaseOf(95_000), leaseOf(96_000, 0, 'node-2')], {
      observation: runAt(100_000),
      expiryAgeMs,
    });
    const without = recordAndJudgeLeases(first.history, [leaseOf(105_000)], {
      observation: runAt(110_000),
      expiryAgeMs,
    });
    expect(without.history.names).toEqual(['node-1']);
    const back = recordAndJudgeLeases(without.history, [leaseOf(96_000, 0, 'node-2')], {
      observation: runAt(140_000),
      expiryAgeMs,
    });
    expect(back.judged).toMatchObject([{ firstSeen: true, renewed: false, expired: true, expiresAt: 126_000 }]);
  });

  it('keeps the time of the request for the latest list', () => {
    const first = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000, { roundTrip: 1_000 })).history;
    expect(first.lastObservedAt).toBe(99_000);
    expect(judge(first, leaseOf(95_000), runAt(110_000)).history.lastObservedAt).toBe(110_000);
  });

  it('is a new value after each observation', () => {
    const first = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000)).history;
    const before = structuredClone(first);
    judge(first, leaseOf(105_000), runAt(110_000));
    expect(first).toEqual(before);
    expect(emptyLeaseHistory.names).toEqual([]);
  });

  it('shows if one of the given leases was renewed since the latest observation', () => {
    const both = [leaseOf(95_000), leaseOf(96_000, 0, 'node-2')];
    const { history } = recordAndJudgeLeases(emptyLeaseHistory, both, { observation: runAt(100_000), expiryAgeMs });
    const isRenewed = (leases: readonly Lease[], ...names: readonly string[]) =>
      isAnyRenewed(history, leases, new Set(names));
    expect(isRenewed(both, 'node-1', 'node-2')).toBe(false);
    expect(isRenewed([leaseOf(105_000), leaseOf(96_000, 0, 'node-2')], 'node-1')).toBe(true);
    expect(isRenewed([leaseOf(105_000), leaseOf(96_000, 0, 'node-2')], 'node-2')).toBe(false);
    expect(isRenewed([leaseOf(106_000, 0, 'node-2')], 'node-2')).toBe(true);
    expect(isRenewed([{ name: 'node-1' }], 'node-1')).toBe(true);
    expect(isRenewed([leaseOf(105_000, 0, 'node-3')], 'node-3')).toBe(false);
    expect(isRenewed([leaseOf(105_000)])).toBe(false);
  });

  it('keeps the same array of names as long as they do not change', () => {
    const first = recordAndJudgeLeases(emptyLeaseHistory, [leaseOf(95_000)], {
      observation: runAt(100_000),
      expiryAgeMs,
    }).history;
    const second = recordAndJudgeLeases(first, [leaseOf(105_000)], {
      observation: runAt(110_000),
      expiryAgeMs,
    }).history;
    expect(second.names).toBe(first.names);
    const more = [leaseOf(105_000), leaseOf(105_000, 0, 'node-2')];
    expect(recordAndJudgeLeases(second, more, { observation: runAt(120_000), expiryAgeMs }).history.names).toEqual([
      'node-1',
      'node-2',
    ]);
  });
});

describe('downtime', () => {
  it('makes leases count from its end, until the expiry age has passed again', () => {
    const { history } = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000));
    const forgiven = resetAges(history, 160_000);
    const after = judge(forgiven, leaseOf(95_000), runAt(160_000));
    expect(after).toMatchObject({ expired: false, expiresAt: 190_000 });
    expect(judge(after.history, leaseOf(95_000), runAt(189_999)).expired).toBe(false);
    expect(judge(after.history, leaseOf(95_000), runAt(190_000)).expired).toBe(true);
  });

  it('does not reset a later renewal, a lease that never was renewed, or a later downtime', () => {
    const { history } = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000));
    const forgiven = resetAges(resetAges(history, 120_000), 110_000);
    expect(renewal(judge(forgiven, leaseOf(119_000), runAt(121_000)))).toBe(120_000);
    expect(renewal(judge(forgiven, leaseOf(121_000), runAt(122_000)))).toBe(121_000);
    expect(judge(forgiven, { name: 'node-2' }, runAt(121_000)).expired).toBe(true);
  });

  it('resets leases seen for the first time too', () => {
    const judged = judge(resetAges(emptyLeaseHistory, 100_000), leaseOf(10_000), runAt(101_000));
    expect(judged).toMatchObject({ expired: false, expiresAt: 130_000 });
  });
});

describe('distrust of timestamps', () => {
  const slow = (renewedAt: number, name = 'node-1') => leaseOf(renewedAt, -tenMinutes, name);
  const disproved = new Set(['node-1']);

  it('ignores timestamps for the expiry age after the disproved observation', () => {
    const first = judge(emptyLeaseHistory, slow(95_000), runAt(100_000));
    expect(first.expired).toBe(true);
    const distrusted = distrustTimestamps(first.history, { disproved, expiryAgeMs });
    const neverSeenRenewed = judge(distrusted, slow(95_000), runAt(102_000));
    expect(neverSeenRenewed).toMatchObject({ expired: false, expiresAt: 130_000 });
    expect(judge(neverSeenRenewed.history, slow(95_000), runAt(130_000)).expired).toBe(true);
    expect(renewal(judge(distrusted, slow(101_000, 'node-2'), runAt(129_999)))).toBe(129_999);
    expect(judge(distrusted, slow(129_000, 'node-2'), runAt(130_000)).expired).toBe(true);
  });

  it('makes disproved leases and those never seen renewed no older than that observation, and no others', () => {
    const names = ['moved', 'unmoved', 'disproved', 'silent'];
    const observeAll = (history: LeaseHistory, countsFrom: readonly number[], at: number) =>
      recordAndJudgeLeases(
        history,
        names.map((name, index) => leaseOf(countsFrom[index] ?? 0, 0, name)),
        { observation: runAt(at), expiryAgeMs },
      );
    const first = observeAll(emptyLeaseHistory, [55_000, 58_000, 56_000, 57_000], 60_000);
    const second = observeAll(first.history, [65_000, 58_000, 66_000, 67_000], 70_000);
    const third = observeAll(second.history, [75_000, 58_000, 66_000, 67_000], 120_000);
    const distrusted = distrustTimestamps(third.history, { disproved: new Set(['disproved']), expiryAgeMs });
    const { judged } = observeAll(distrusted, [75_000, 58_000, 66_000, 67_000], 122_000);
    expect(judged.map((each) => [each.name, renewal(each)])).toEqual([
      ['moved', 75_000],
      ['unmoved', 120_000],
      ['disproved', 120_000],
      ['silent', 67_000],
    ]);
  });

  it('has no effect before the first observation, or on a lease without renewTime', () => {
    expect(distrustTimestamps(emptyLeaseHistory, { disproved, expiryAgeMs })).toEqual(emptyLeaseHistory);
    const { history } = judge(emptyLeaseHistory, { name: 'node-1' }, runAt(100_000));
    const after = judge(distrustTimestamps(history, { disproved, expiryAgeMs }), { name: 'node-1' }, runAt(102_000));
    expect(after).toMatchObject({ expired: true, expiresAt: Number.NEGATIVE_INFINITY });
  });

  it('does not undo a reset after downtime, and is not shortened by it', () => {
    const { history } = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000));
    const distrusted = distrustTimestamps(resetAges(history, 150_000), { disproved, expiryAgeMs });
    expect(renewal(judge(distrusted, leaseOf(95_000), runAt(151_000)))).toBe(150_000);
    expect(resetAges(distrusted, 160_000).distrustUntil).toBe(130_000);
  });
});

describe('a wrong clock', () => {
  const observations = (ahead: number, renewals: readonly number[]): readonly boolean[] => {
    let history = emptyLeaseHistory;
    return renewals.map((renewedAt, index) => {
      const judged = judge(history, leaseOf(renewedAt, ahead), runAt(100_000 + 10_000 * index));
      ({ history } = judged);
      return judged.wrongClock;
    });
  };

  it.each([
    { what: 'a right clock', ahead: 0, wrong: [false, false, false] },
    { what: 'a clock within the tolerance', ahead: 2_000, wrong: [false, false, false] },
    { what: 'a fast clock', ahead: tenMinutes, wrong: [false, true, true] },
    { what: 'a slow clock', ahead: -tenMinutes, wrong: [false, true, true] },
  ])('$what: $wrong, and unknown before the first observed renewal', ({ ahead, wrong }) => {
    expect(observations(ahead, [99_000, 110_000, 119_000])).toEqual(wrong);
  });

  it('counts as wrong until a renewal agrees', () => {
    const first = judge(emptyLeaseHistory, leaseOf(99_000), runAt(100_000));
    const wrong = judge(first.history, leaseOf(109_000, tenMinutes), runAt(110_000));
    const same = judge(wrong.history, leaseOf(109_000, tenMinutes), runAt(115_000));
    const right = judge(same.history, leaseOf(119_000), runAt(120_000));
    expect([wrong, same, right].map(({ wrongClock }) => wrongClock)).toEqual([true, true, false]);
  });

  it.each([-600_000, -4_000, 4_000, 600_000])('is not blamed on a node if our own clock is off by %d ms', (ours) => {
    const first = judge(emptyLeaseHistory, leaseOf(95_000), runAt(100_000, { ours }));
    expect(judge(first.history, leaseOf(105_000), runAt(110_000, { ours })).wrongClock).toBe(false);
    expect(judge(first.history, leaseOf(105_000, tenMinutes * 2), runAt(110_000, { ours })).wrongClock).toBe(true);
  });

  it('does not count for a lease without a timestamp', () => {
    const { history } = judge(emptyLeaseHistory, leaseOf(99_000), runAt(100_000));
    expect(judge(history, { name: 'node-1' }, runAt(110_000)).wrongClock).toBe(false);
  });
});
