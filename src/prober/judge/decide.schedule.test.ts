import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { type ProbeRun, defaultSettings, leasesOf, runProbe, runProbes, undisturbed } from '../testing/probe-run.ts';
import { emptyProbeMemory } from './probe-memory.ts';

/** Decision of a run at 100 s. */
const nextAfter = (renewedAt: readonly (number | null)[], rest: Partial<ProbeRun> = {}) =>
  runProbe(emptyProbeMemory, { at: 100_000, leases: leasesOf(renewedAt), ...rest }).decision;

describe('the next tick', () => {
  it.each([
    { random: 0, next: 110_000 },
    { random: 0.5, next: 111_000 },
    { random: 0.999, next: 111_998 },
  ])('is jittered: $random -> $next', ({ random, next }) => {
    expect(nextAfter([99_000, 99_000], { random }).nextRunAt).toBe(next);
  });

  it('comes within its bounds, whatever the verdict, and never in the past', () => {
    const instant = fc.option(fc.integer({ min: 50_000, max: 100_000 }));
    const jitter = fc.double({ min: 0, max: 2, noNaN: true });
    const random = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
    fc.assert(
      fc.property(fc.array(instant, { maxLength: 6 }), jitter, random, (renewedAt, backoffJitterFactor, roll) => {
        const settings = { ...defaultSettings, backoffJitterFactor };
        const { nextRunAt, verdict } = nextAfter(renewedAt, { settings, random: roll });
        const tick = 100_000 + 10_000 * (1 + roll * backoffJitterFactor);
        expect(nextRunAt).toBeLessThanOrEqual(tick);
        expect(nextRunAt).toBeGreaterThanOrEqual(101_000);
        if (verdict.kind === 'skipped' || verdict.kind === 'unhealthy') expect(nextRunAt).toBe(tick);
        if (verdict.kind === 'confirming') expect(nextRunAt).toBe(102_000);
      }),
    );
  });
});

describe('the instant at which the verdict could change', () => {
  interface Row {
    readonly what: string;
    readonly renewedAt: readonly (number | null)[];
    readonly rest?: Partial<ProbeRun>;
    readonly next: number;
  }
  const half = { ...defaultSettings, nodeLeaseFailureFraction: 0.5 };
  const rows: readonly Row[] = [
    { what: 'is the next tick if all have renewed lately', renewedAt: [99_000, 99_000, 99_000], next: 110_000 },
    { what: 'is the expiry of the second of three leases', renewedAt: [75_000, 76_000, 99_000], next: 106_000 },
    {
      what: 'is the expiry of the third of five leases',
      renewedAt: [75_000, 76_000, 77_000, 99_000, 99_000],
      next: 107_000,
    },
    { what: 'counts a lease that has expired already', renewedAt: [60_000, 76_000, 99_000], next: 106_000 },
    { what: 'counts a lease without renewTime', renewedAt: [null, 76_000, 99_000], next: 106_000 },
    { what: 'may be the next tick', renewedAt: [80_000, 80_000], next: 110_000 },
    { what: 'may be just before the next tick', renewedAt: [79_999, 79_999], next: 109_999 },
    { what: 'is at least a second away', renewedAt: [70_001, 70_500], next: 101_000 },
    { what: 'may be exactly a second away', renewedAt: [71_000, 71_000], next: 101_000 },
    { what: 'does not exist for a single candidate', renewedAt: [75_000], next: 110_000 },
    { what: 'does not exist without candidates', renewedAt: [], next: 110_000 },
    {
      what: 'lazy: is the expiry of any two leases',
      renewedAt: [99_000, 76_000, 75_000],
      rest: { dependents: undisturbed },
      next: 106_000,
    },
    {
      what: 'lazy, with a fraction of a half: is the expiry of any lease',
      renewedAt: [99_000, 76_000, 75_000],
      rest: { dependents: undisturbed, settings: half },
      next: 105_000,
    },
    {
      what: 'lazy: counts a lease that has expired already',
      renewedAt: [60_000, 76_000, 99_000],
      rest: { dependents: undisturbed },
      next: 106_000,
    },
    {
      what: 'lazy: does not exist for a single lease',
      renewedAt: [75_000],
      rest: { dependents: undisturbed },
      next: 110_000,
    },
    { what: 'lazy: does not exist without leases', renewedAt: [], rest: { dependents: undisturbed }, next: 110_000 },
  ];

  it.each(rows)('$what', ({ renewedAt, rest = {}, next }) => {
    const decision = nextAfter(renewedAt, rest);
    expect(decision.verdict.kind).toBe(renewedAt.length === 1 && rest.dependents === undefined ? 'skipped' : 'healthy');
    expect(decision.nextRunAt).toBe(next);
  });

  it('is the time of the next run, and the verdict changes then, not a millisecond before', () => {
    const renewed = [71_000, 76_000, 77_000, 77_500];
    const first = nextAfter(renewed);
    expect(first.nextRunAt).toBe(107_000);
    const early = runProbe(first.memory, { at: 106_999, leases: leasesOf(renewed) }).decision;
    expect(early.verdict.kind).toBe('healthy');
    const turned = runProbe(first.memory, { at: first.nextRunAt, leases: leasesOf(renewed) }).decision;
    expect(turned.verdict).toEqual({ kind: 'unhealthy', crossedAt: 107_000 });
  });

  it('moves on while kubelets renew', () => {
    const runs = runProbes(emptyProbeMemory, [
      { at: 100_000, leases: leasesOf([75_000, 76_000]) },
      { at: 106_000, leases: leasesOf([105_000, 105_000]) },
    ]);
    expect(runs.map(({ decision }) => decision.nextRunAt)).toEqual([106_000, 116_000]);
  });

  it('leads to a run a second later if it passed while the lists were on their way', () => {
    const observation = { startedAt: 98_000, endedAt: 98_500 };
    const decision = nextAfter([68_100, 68_200], {
      observation: { ...observation, wall: Date.parse('2026-11-21T06:01:38.5Z') },
    });
    expect(decision).toMatchObject({ verdict: { kind: 'healthy' }, nextRunAt: 101_000 });
  });

  it('has no effect after a failed run, which is repeated in a second if leases are older than half of the expiry age', () => {
    const failures = { nodes: new ApiError({ code: 'Timeout', message: 'x' }) };
    expect(nextAfter([75_000, 76_000], { failures }).nextRunAt).toBe(101_000);
    expect(nextAfter([85_001, 85_001], { failures, random: 0.5 }).nextRunAt).toBe(111_000);
  });

  it('does not delay the next tick, even if the interval is less than a second', () => {
    const settings = { ...defaultSettings, probeIntervalMs: 500 };
    expect(nextAfter([70_001, 70_001], { settings }).nextRunAt).toBe(100_500);
  });
});

describe('wrong clocks of nodes', () => {
  const tenMinutes = 600_000;

  /** Runs every 10 s. Kubelets renew right before each run, with clocks that are ahead by `shifts`. */
  const nextAfterRuns = (shifts: readonly number[], rest: Partial<ProbeRun> = {}): readonly number[] =>
    runProbes(
      emptyProbeMemory,
      [100_000, 110_000, 120_000].map((at) => ({
        at,
        leases: leasesOf(shifts.map((shift) => at - 500 + shift)),
        ...rest,
      })),
    ).map(({ decision }, index) => decision.nextRunAt - (100_000 + 10_000 * index));

  it.each([
    { what: 'no clock is wrong', shifts: [0, 1_500, -1_500, 0], pauses: [10_000, 10_000, 10_000] },
    { what: 'one of five clocks', shifts: [tenMinutes, 0, 0, 0, 0], pauses: [10_000, 10_000, 10_000] },
    { what: 'one of four clocks', shifts: [-tenMinutes, 0, 0, 0], pauses: [10_000, 3_000, 3_000] },
    { what: 'all clocks', shifts: [tenMinutes, -tenMinutes, tenMinutes], pauses: [10_000, 3_000, 3_000] },
    { what: 'the clock of a single candidate', shifts: [tenMinutes], pauses: [10_000, 10_000, 10_000] },
    {
      what: 'lazy, one of five clocks, which may be one of four candidates',
      shifts: [tenMinutes, 0, 0, 0, 0],
      rest: { dependents: undisturbed },
      pauses: [10_000, 3_000, 3_000],
    },
    {
      what: 'lazy, no clock is wrong',
      shifts: [0, 0, 0, 0, 0],
      rest: { dependents: undisturbed },
      pauses: [10_000, 10_000, 10_000],
    },
  ])('$what: next run after $pauses ms', ({ shifts, rest = {}, pauses }) => {
    expect(nextAfterRuns(shifts, rest)).toEqual(pauses);
  });

  it('make no interval longer', () => {
    const settings = { ...defaultSettings, probeIntervalMs: 2_000 };
    expect(nextAfterRuns([tenMinutes, tenMinutes], { settings })).toEqual([2_000, 2_000, 2_000]);
  });

  it('are forgotten once they are right', () => {
    const runs = runProbes(emptyProbeMemory, [
      { at: 100_000, leases: leasesOf([99_000, 99_000]) },
      { at: 110_000, leases: leasesOf([109_000 + tenMinutes, 109_000]) },
      { at: 113_000, leases: leasesOf([109_000 + tenMinutes, 109_000]) },
      { at: 116_000, leases: leasesOf([115_000, 115_000]) },
    ]);
    expect(runs.map(({ decision }) => decision.nextRunAt)).toEqual([110_000, 113_000, 116_000, 126_000]);
  });
});

describe('failed runs in a row', () => {
  const failures = { version: new ApiError({ code: 'ConnectionError', message: 'x' }) };
  /** Pauses between failed runs after a good run at 60 s. */
  const pausesFrom = (first: number, renewedAt: readonly number[], count: number): readonly number[] => {
    let { memory } = runProbe(emptyProbeMemory, { at: 60_000, leases: leasesOf(renewedAt) }).decision;
    let at = first;
    return Array.from({ length: count }, () => {
      const { decision } = runProbe(memory, { at, leases: leasesOf(renewedAt), failures });
      const pauseMs = decision.nextRunAt - at;
      ({ memory } = decision);
      at = decision.nextRunAt;
      return pauseMs;
    });
  };

  it('come after 1, 2, 4, 8 s, once more before the spell counts as downtime, when the leases expire, and then after 1, 2, 4, 8 s again', () => {
    // Half of the expiry age has passed at 70 s, downtime would count from 85 s on, and then the leases expire.
    expect(pausesFrom(70_000, [55_000, 55_000], 12)).toEqual([
      1_000, 2_000, 4_000, 6_000, 2_000, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000,
    ]);
  });

  it('come at the ticks while leases are young, except for the last one that can show that the API server is up', () => {
    expect(pausesFrom(61_000, [60_000, 60_000], 2)).toEqual([10_000, 3_000]);
  });
});
