import { describe, expect, it } from 'vitest';
import { needsOutput, raceResult } from './parts/race-figures.ts';
import { kinds } from './parts/race-kinds.ts';
import { type RacedOutage, scheduleOf } from './parts/race-round.ts';

const outage = (parts: Partial<RacedOutage>): RacedOutage => ({
  kind: 'plain',
  shoot: 'a',
  isProtected: true,
  silentSince: 0,
  thresholdAt: 35_000,
  markableAt: 40_000,
  nodes: 20,
  unknown: 0,
  ...parts,
});

describe('the result of a race', () => {
  const resultOf = (...outages: readonly RacedOutage[]) => raceResult({ outages, failures: [] });

  it('is a failure if the program does nothing, and then shows no margin', () => {
    const { text, failures } = resultOf(outage({ unknown: 20, firstUnknownAt: 41_000 }));
    expect(failures).toEqual(['plain, a: 20 nodes turned Unknown with the prober']);
    expect(text).toMatch(/\| plain +\| 1 +\| 0 +\| 20 +\| - +\| - +\| - +\|/);
    expect(text).not.toContain('NaN');
  });

  it('has a row for each kind: the margins between the stop of KCM and the earliest time at which KCM may mark a node', () => {
    const stops = [32_000, 30_500, 31_000];
    const { text, missed, failures } = resultOf(
      ...stops.map((stoppedAt) => outage({ stoppedAt })),
      outage({ kind: 'leader-killed', stoppedAt: 33_000, faultAt: 30_000 }),
      outage({ isProtected: false, unknown: 20 }),
    );
    expect([missed, failures]).toEqual([[], []]);
    expect(text).toMatch(/\| plain +\| 3 +\| 3 +\| 0 +\| 8.00 +\| 9.00 +\| 9.50 +\|/);
    expect(text).toMatch(/\| leader-killed +\| 1 +\| 1 +\| 0 +\| 7.00 +\| 7.00 +\| 7.00 +\|/);
    expect(text).toContain('No node was lost with the prober.');
  });

  it('names the missed aims, which differ for a plain outage', () => {
    const { missed, failures } = resultOf(
      outage({ stoppedAt: 33_500 }),
      outage({ kind: 'wrong-clocks', stoppedAt: 38_500 }),
      outage({ kind: 'wrong-clocks', stoppedAt: 34_500 }),
    );
    expect(missed).toEqual([
      'plain: least margin 6.50 s, aim 7.00 s',
      'wrong-clocks: least margin 1.50 s, aim 2.00 s',
      'wrong-clocks: median margin 1.50 s, aim 6.00 s',
    ]);
    expect(failures).toEqual([]);
  });

  it.each<readonly [string, Partial<RacedOutage>]>([
    ['the prober did not scale KCM down', {}],
    ['it was not restored', { stoppedAt: 30_000, restoration: {} }],
    ['only 19 nodes turned Unknown without', { isProtected: false, unknown: 19 }],
  ])('fails if %s', (failure, parts) => {
    expect(resultOf(outage(parts)).failures).toEqual([`plain, a: ${failure}`]);
  });

  it('is poor, so that the log is printed, if the program lost nodes or stopped KCM late', () => {
    const stops = [33_000, 33_001];
    expect(stops.map((stoppedAt) => needsOutput(outage({ stoppedAt })))).toEqual([false, true]);
    expect(needsOutput(outage({ kind: 'leader-killed', stoppedAt: 38_000 }))).toBe(false);
    expect(needsOutput(outage({ stoppedAt: 20_000, unknown: 1 }))).toBe(true);
    expect(needsOutput(outage({ isProtected: false, unknown: 20 }))).toBe(false);
  });

  it('names the rounds that could not be played', () => {
    const { text, failures } = raceResult({ outages: [], failures: ['plain, round 1: not played: why'] });
    expect(failures).toHaveLength(1);
    expect(text).toContain('The race is lost.');
  });
});

describe('the schedule of a race', () => {
  const arenas = ['a', 'b', 'c', 'd', 'e'];
  const [rounds, windowMs] = [4, 35_000];

  it.each([true, false])('spreads leader faults evenly, 30 s before to 5 s after thresholds (own: %s)', (isOwn) => {
    const random = () => 0.5;
    const offsets = Array.from({ length: rounds }, (_, round) => {
      const pacing = { isOwn, rounds, scale: 1, random, arenas };
      const { cutsAfterMs, faultAfterMs } = scheduleOf(kinds['leader-killed'], round, pacing);
      expect(Math.min(...cutsAfterMs)).toBeGreaterThanOrEqual(0);
      // On average, a shoot reaches its threshold 26 s after its cut.
      return cutsAfterMs.map((cutAfterMs) => faultAfterMs - cutAfterMs - 26_000);
    }).flat();
    const parts = offsets.map((offset) => Math.floor(((offset + 30_000) / windowMs) * offsets.length));
    expect(parts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, part) => part));
  });

  it.each<readonly [boolean, number]>([
    [true, 36_000],
    [false, 66_000],
  ])('spreads the cuts of the shoots evenly over a whole cycle (own: %s)', (isOwn, cycleMs) => {
    const pacing = { isOwn, rounds, scale: 1, random: () => 0.5, arenas };
    const cuts = Array.from(
      { length: rounds },
      (_, round) => scheduleOf(kinds.plain, round, pacing).cutsAfterMs,
    ).flat();
    const parts = cuts.map((cut) => Math.floor((cut / cycleMs) * cuts.length));
    expect(parts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, part) => part));
  });
});
