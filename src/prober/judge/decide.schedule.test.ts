import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ProbeRun,
  candidatesOf,
  bySingleLeases,
  defaultSettings,
  leasesOf,
  runProbe,
  undisturbed,
} from '../testing/probe-run.ts';
import { emptyProbeMemory } from './judgement.ts';

/** Decision of a run at 100 s. */
const nextAfter = (renewedAt: readonly (number | null)[], rest: Partial<ProbeRun> = {}) =>
  runProbe(known, { at: 100_000, leases: leasesOf(renewedAt), settings: bySingleLeases, ...rest }).decision;

/** The candidates are known, so that a run may be lazy. */
const known = { ...emptyProbeMemory, candidates: candidatesOf(['node-1', 'node-2', 'node-3'], 95_000) };

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
        if (verdict.kind === 'confirming') expect(nextRunAt).toBeGreaterThanOrEqual(102_000);
        if (verdict.kind === 'confirming') expect(nextRunAt).toBeLessThanOrEqual(107_500);
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
  const half = { ...bySingleLeases, nodeLeaseFailureFraction: 0.5 };
  const rows: readonly Row[] = [
    { what: 'is the next tick if all have renewed lately', renewedAt: [99_000, 99_000, 99_000], next: 110_000 },
    { what: 'is the expiry of the second of three leases', renewedAt: [75_000, 76_000, 99_000], next: 106_000 },
    { what: 'counts a lease without renewTime from our first list', renewedAt: [null, 76_000, 99_000], next: 110_000 },
    { what: 'may be just before the next tick', renewedAt: [79_999, 79_999], next: 109_999 },
    { what: 'is at least a second away', renewedAt: [70_001, 70_500], next: 101_000 },
    { what: 'does not exist for a single candidate', renewedAt: [75_000], next: 110_000 },
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
      what: 'lazy: does not exist for a single lease',
      renewedAt: [75_000],
      rest: { dependents: undisturbed },
      next: 110_000,
    },
    {
      what: 'lazy: is the silence of the candidates that are known, whoever else renews',
      renewedAt: [85_000, 85_000, 85_000, 99_000],
      rest: { dependents: undisturbed, settings: defaultSettings },
      next: 105_000,
    },
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
    const rest = { leases: leasesOf(renewed), settings: bySingleLeases };
    const early = runProbe(first.memory, { at: 106_999, ...rest }).decision;
    expect(early.verdict.kind).toBe('healthy');
    const turned = runProbe(first.memory, { at: first.nextRunAt, ...rest }).decision;
    expect(turned.verdict).toEqual({ kind: 'unhealthy', crossedAt: 107_000, graceEndsAt: 117_000 });
  });

  it('leads to a run a second later if it passed while the lists were on their way', () => {
    const list = { sentAt: 98_000, receivedAt: 98_500, serverNow: Date.parse('2026-11-21T06:01:38.5Z') };
    const decision = nextAfter([68_100, 68_200], { list });
    expect(decision).toMatchObject({ verdict: { kind: 'healthy' }, nextRunAt: 101_000 });
  });

  it('does not delay the next tick, even if the interval is less than a second', () => {
    const settings = { ...defaultSettings, probeIntervalMs: 500 };
    expect(nextAfter([70_001, 70_001], { settings }).nextRunAt).toBe(100_500);
  });
});
