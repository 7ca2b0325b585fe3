import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultSettings, leasesOf, origin } from '../testing/probe-run.ts';
import { type LeaseList, measureSkew, observeLeases } from './leases.ts';
import { type ObservedLease, type ProbeMemory, type ProbeSettings, emptyProbeMemory } from './judgement.ts';

type Given = Partial<LeaseList> & { readonly at: number };

/** Observes lists one after the other; each was sent, and had arrived, at `at`, by a right clock. */
const observe = (
  lists: readonly Given[],
  { excusedUntil, ...settings }: Partial<ProbeSettings> & Pick<ProbeMemory, 'excusedUntil'> = {},
): readonly ObservedLease[] => {
  let memory: ProbeMemory = { ...emptyProbeMemory, excusedUntil };
  for (const { at, ...given } of lists) {
    const list = { items: [], sentAt: at, receivedAt: at, serverNow: origin + at, ...given };
    const leases = observeLeases(list, memory, { ...defaultSettings, ...settings });
    memory = { ...memory, leases, listedAt: list.sentAt };
  }
  return memory.leases;
};

const only = (...given: Parameters<typeof observe>): ObservedLease => observe(...given)[0]!;

describe('the age of a lease', () => {
  const renewed = (at: number, options?: Parameters<typeof leasesOf>[1]) => ({ items: leasesOf([at], options) });

  it.each([-300_000, -30_000, -3_000, 0, 1_900])(
    'is by the stamp of the API server if the clock of the node differs by %i ms',
    (skewMs) => {
      const lease = only([{ at: 100_000, ...renewed(88_000, { skewMs }) }]);
      expect(lease).toMatchObject({ isTrusted: true, renewedAt: 88_000, expiresAt: 118_000 });
    },
  );

  it('is by the clock of the node if the stamp is older than the renewal, as with servers before 1.25', () => {
    const items = [{ ...leasesOf([88_000])[0]!, stampedAt: (origin - 3_600_000) * 1_000 }];
    expect(only([{ at: 100_000, items }])).toMatchObject({ isTrusted: false, renewedAt: 88_000 });
  });

  it('is by the clock of the node without a stamp, and by our wall clock without a Date', () => {
    const serverNow = origin + 100_000 + 7_000;
    expect(only([{ at: 100_000, ...renewed(88_000, { stamped: false }), serverNow }]).renewedAt).toBe(81_000);
  });

  it('is at most the time since the list before the one that shows the change', () => {
    const before = { at: 90_000, ...renewed(85_000) };
    // Another API server, whose clock is a minute ahead, has answered.
    const after = { at: 100_000, ...renewed(95_000), serverNow: origin + 160_000 };
    expect(only([before, after])).toMatchObject({ changedAfter: 90_000, shownAt: 100_000, renewedAt: 90_000 });
  });

  it('is at least the time since the list that shows it', () => {
    const ahead = { at: 100_000, ...renewed(95_000, { skewMs: 300_000 }) };
    expect(only([ahead])).toMatchObject({ isTrusted: false, renewedAt: 100_000 });
    expect(only([ahead, { at: 120_000, items: ahead.items }])).toMatchObject({ shownAt: 100_000, renewedAt: 100_000 });
  });

  it('is by the stamp for a clock that is fast, too, once we have seen the stamp change with a renewal', () => {
    const listed = (at: number, renewedAt: number) => ({ at, ...renewed(renewedAt, { skewMs: 600_000 }) });
    const first = listed(100_000, 92_000);
    expect(only([first])).toMatchObject({ isTrusted: false, renewedAt: 100_000 });
    expect(only([first, listed(110_000, 103_000)])).toMatchObject({ isTrusted: true, renewedAt: 103_000 });
    expect(only([first, listed(110_000, 103_000), listed(120_000, 103_000)])).toMatchObject({ renewedAt: 103_000 });
    // An API server before 1.25 leaves the stamp as it was.
    const old = {
      at: 120_000,
      items: [{ ...listed(120_000, 113_000).items[0]!, stampedAt: (origin + 103_000) * 1_000 }],
    };
    expect(only([first, listed(110_000, 103_000), old])).toMatchObject({ isTrusted: false, renewedAt: 120_000 });
  });

  it('is that of our watching without renewTime', () => {
    const lists = [100_000, 115_000].map((at) => ({ at, items: leasesOf([null]) }));
    expect(only(lists)).toMatchObject({ renewedAt: 100_000, isTrusted: false });
  });

  it('counts from the end of a failure of the API server, and is not changed by it', () => {
    const lease = only([{ at: 100_000, ...renewed(60_000) }], { excusedUntil: 95_000 });
    expect(lease).toMatchObject({ renewedAt: 60_000, silentSince: 95_000, expiresAt: 125_000 });
  });

  it('is not younger after a renewTime that goes backwards: it has changed', () => {
    const back = { at: 100_000, items: leasesOf([99_000], { skewMs: -600_000, stamped: false }) };
    expect(only([{ at: 90_000, ...renewed(85_000) }, back])).toMatchObject({ renewedAt: 90_000, shownAt: 100_000 });
  });

  it('is right for any clock of the node, if the server stamps, and never beyond what we have watched', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -600_000, max: 600_000 }),
        fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 2, maxLength: 8 }),
        fc.integer({ min: 1, max: 30_000 }),
        fc.boolean(),
        (skewMs, gaps, lastGap, stamped) => {
          let at = 1_000_000;
          const lists: Given[] = [];
          let renewedAt = at;
          for (const gap of gaps) {
            renewedAt = at + gap / 2;
            at += gap;
            lists.push({ at, items: leasesOf([renewedAt], { skewMs, stamped }) });
          }
          const lease = only([...lists, { at: at + lastGap, items: lists.at(-1)!.items }]);
          expect(lease.renewedAt).toBeGreaterThanOrEqual(lease.changedAfter);
          expect(lease.renewedAt).toBeLessThanOrEqual(lease.shownAt);
          if (stamped && skewMs <= 2_000) expect(lease.renewedAt).toBe(renewedAt);
        },
      ),
    );
  });
});

describe('a lease expires', () => {
  it.each([
    { durationSeconds: 120, expiryAgeMs: 30_000, expiresAt: 130_000 },
    { durationSeconds: 4, expiryAgeMs: 7_500, expiresAt: 107_500 },
    { durationSeconds: 40, expiryAgeMs: 7_500, expiresAt: 112_500 },
  ])('at $expiryAgeMs ms, but after 1.25 renewal intervals of its $durationSeconds s at the earliest', (given) => {
    const items = leasesOf([100_000]).map((lease) => ({ ...lease, durationSeconds: given.durationSeconds }));
    expect(only([{ at: 100_000, items }], { expiryAgeMs: given.expiryAgeMs }).expiresAt).toBe(given.expiresAt);
  });

  it.each([
    { skewMs: 5_000, expiresAt: 95_000 },
    { skewMs: 60_000, expiresAt: 110_000 },
    { skewMs: -60_000, expiresAt: 130_000 },
  ])('by an API server whose clock and ours differ by $skewMs ms at $expiresAt ms', ({ skewMs, expiresAt }) => {
    // Another API server, whose clock is right, has stamped the lease.
    const list = { at: 100_000, items: leasesOf([70_000]), serverNow: origin + 100_000 + skewMs, skewMs };
    expect(only([list])).toMatchObject({ isTrusted: expiresAt < 100_000, expiresAt });
  });

  it.each([
    { durationSeconds: 40, lists: [100_000], expiresAt: 110_000 },
    { durationSeconds: 40, lists: [100_000, 109_000], expiresAt: 110_000 },
    { durationSeconds: 4, lists: [100_000], expiresAt: 101_000 },
  ])(
    'by the clock of its node alone only after we have watched it for a renewal interval: $durationSeconds s, $lists',
    (given) => {
      const items = leasesOf([50_000], { stamped: false }).map((lease) => ({ ...lease, ...given }));
      expect(only(given.lists.map((at) => ({ at, items }))).expiresAt).toBe(given.expiresAt);
    },
  );
});

it('leases are found whatever their order, and a lease is new only in its first list', () => {
  const [a, b, c] = leasesOf([90_000, 91_000, 92_000]);
  const leases = observe([
    { at: 100_000, items: [a!, b!] },
    { at: 110_000, items: [c!, b!, a!] },
  ]);
  expect(leases.map(({ name, isNew, shownAt }) => [name, isNew, shownAt])).toEqual([
    ['node-3', true, 110_000],
    ['node-2', false, 100_000],
    ['node-1', false, 100_000],
  ]);
});

describe('clock skew', () => {
  const wallAtEnd = Date.parse('2026-11-21T12:00:10Z');

  it.each([0, 2_000, -2_000, 600_000])(
    'of %i ms is measured to 1.5 s, whenever the server writes its header',
    (skew) => {
      for (const writtenAfterMs of [0, 1_000, 2_000]) {
        const date = Math.floor((wallAtEnd - 2_000 + writtenAfterMs + skew) / 1_000) * 1_000;
        const measured = measureSkew({ date, wallAtEnd, roundTripMs: 2_000 });
        expect(Math.abs((measured ?? Number.NaN) - skew)).toBeLessThanOrEqual(1_500);
      }
    },
  );

  it('is measured as if the server had written its header in the middle of the exchange, and of a second', () => {
    expect(measureSkew({ date: 10_000, wallAtEnd: 11_000, roundTripMs: 1_000 })).toBe(0);
  });

  it('is unknown after a long exchange, and without a Date header', () => {
    expect(measureSkew({ date: wallAtEnd, wallAtEnd, roundTripMs: 2_001 })).toBeUndefined();
    expect(measureSkew({ date: undefined, wallAtEnd, roundTripMs: 0 })).toBeUndefined();
  });
});
