import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultSettings, leasesOf, origin } from '../testing/probe-run.ts';
import { observeLeases } from './leases.ts';
import { type ObservedLease, type ProbeSettings, emptyProbeMemory } from './judgement.ts';
import { expiredFrom, fewestCandidates, outageFrom, outageOfSomeFrom } from './rules.ts';

const none = Number.POSITIVE_INFINITY;

interface Given {
  readonly durations?: readonly number[];
  readonly stamped?: boolean;
}

/** Leases that were renewed at these instants, by a list at 100 s. */
const leases = (
  renewedAt: readonly (number | null)[],
  { durations = [], stamped = true, ...settings }: Partial<ProbeSettings> & Given = {},
): readonly ObservedLease[] => {
  const items = leasesOf(renewedAt, { stamped }).map((lease, index) => ({
    ...lease,
    durationSeconds: durations[index] ?? 40,
  }));
  const list = { items, sentAt: 100_000, receivedAt: 100_000, serverNow: origin + 100_000 };
  return observeLeases(list, emptyProbeMemory, { ...defaultSettings, ...settings });
};

describe('all candidates are silent', () => {
  const allSilentAt = (...given: Parameters<typeof leases>): number => {
    const settings = { ...defaultSettings, ...given[1] };
    const at = outageFrom(leases(...given), settings);
    return at < expiredFrom(leases(...given), settings) ? at : none;
  };

  it.each([
    { what: 'two candidates', renewedAt: [95_000, 95_000], at: none },
    { what: 'three, for half of the grace', renewedAt: [95_000, 96_000, 97_000], at: 117_000 },
    { what: 'one dead since long', renewedAt: [10_000, 96_000, 97_000], at: 117_000 },
    {
      what: 'a configured time',
      renewedAt: [95_000, 96_000, 97_000],
      given: { allSilentAfterMs: 15_000 },
      at: 112_000,
    },
    { what: 'the rule turned off', renewedAt: [95_000, 96_000, 97_000], given: { allSilentAfterMs: 0 }, at: none },
    {
      what: 'leases by the clocks of their nodes alone, which must be watched for a renewal interval',
      renewedAt: [85_000, 85_000, 85_000],
      given: { stamped: false },
      at: 110_000,
    },
    {
      what: 'an address that is unreachable',
      renewedAt: [95_000, 96_000, 97_000],
      given: { isTriggered: true },
      at: 112_000,
    },
    {
      what: 'that address, and the rule turned off',
      renewedAt: [95_000, 96_000, 97_000],
      given: { isTriggered: true, allSilentAfterMs: 0 },
      at: 112_000,
    },
    {
      what: 'a lease of 250 s among four: it is not due, and does not switch the rule off',
      renewedAt: [95_000, 96_000, 97_000, 99_000],
      given: { durations: [40, 40, 40, 250] },
      at: 117_000,
    },
    {
      what: 'leases of 250 s among too few others',
      renewedAt: [95_000, 96_000, 97_000, 99_000, 99_000, 99_000],
      given: { durations: [40, 40, 40, 250, 250, 250] },
      at: none,
    },
    {
      what: 'leases of 60 s: half of their duration',
      renewedAt: [95_000, 96_000, 97_000],
      given: { durations: [60, 60, 60] },
      at: none,
    },
    {
      what: 'leases of 50 s: half of their duration',
      renewedAt: [95_000, 96_000, 97_000],
      given: { durations: [50, 50, 50] },
      at: 122_000,
    },
  ])('$what: from $at on', ({ renewedAt, given = {}, at }) => {
    expect(allSilentAt(renewedAt, given)).toBe(at);
  });
});

const someRenewals = fc.array(fc.integer({ min: 40_000, max: 100_000 }), { maxLength: 8 });
const someFraction = fc.constantFrom(0.01, 0.3, 0.5, 0.6, 0.75, 1);

it('a rule holds from its instant on, and not before: the instant is that at which the leases say so one by one', () => {
  fc.assert(
    fc.property(someRenewals, someFraction, (renewedAt, nodeLeaseFailureFraction) => {
      const settings = { ...defaultSettings, nodeLeaseFailureFraction };
      const candidates = leases(renewedAt);
      const at = outageFrom(candidates, settings);
      const holds = (instant: number): boolean => {
        const expired = renewedAt.filter((renewed) => instant - renewed >= 30_000).length;
        const silent = renewedAt.every((renewed) => instant - renewed >= 20_000);
        const isExpired = renewedAt.length >= 2 && expired / renewedAt.length >= nodeLeaseFailureFraction;
        return isExpired || (renewedAt.length >= 3 && silent);
      };
      expect(Number.isFinite(at)).toBe(renewedAt.length >= 2);
      if (!Number.isFinite(at)) return;
      expect([holds(at - 1), holds(at), holds(at + 100_000)]).toEqual([false, true, true]);
    }),
  );
});

it('the rule holds of no subset of the leases before it may hold of some', () => {
  fc.assert(
    fc.property(someRenewals, someFraction, fc.infiniteStream(fc.boolean()), (renewedAt, fraction, choose) => {
      const settings = { ...defaultSettings, nodeLeaseFailureFraction: fraction };
      const all = leases(renewedAt);
      const subset = all.filter(() => choose.next().value);
      expect(outageFrom(subset, settings)).toBeGreaterThanOrEqual(outageOfSomeFrom(all, settings));
      expect(expiredFrom(subset, settings)).toBeGreaterThanOrEqual(expiredFrom(all, settings, fewestCandidates));
    }),
  );
});
