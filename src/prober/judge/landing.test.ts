import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { type ProbeRun, defaultSettings, disturbed, held, leasesOf, nodeOf, runProbes } from '../testing/probe-run.ts';
import { type ProbeMemory, emptyProbeMemory } from './judgement.ts';

/** Last renewals of five nodes: all are silent after 100 s, the first since long before. */
const cut: readonly (number | null)[] = [20_000, 98_000, 99_000, 99_500, 100_000];
const back = (at: number, ...nodes: readonly number[]): readonly (number | null)[] =>
  cut.map((renewedAt, index) => (nodes.includes(index + 1) ? at - 1_000 : renewedAt));

const kindsOf = (memory: ProbeMemory, runs: readonly ProbeRun[]): readonly string[] =>
  runProbes(memory, runs).map(({ decision }) => decision.verdict.kind);

/** Runs on a shoot that is scaled down at 122 s. */
const outage: readonly ProbeRun[] = [
  { at: 95_000, leases: leasesOf([20_000, 88_000, 89_000, 89_500, 90_000]), dependents: disturbed },
  { at: 101_000, leases: leasesOf(cut), dependents: disturbed },
  { at: 120_000, leases: leasesOf(cut), dependents: disturbed },
  { at: 122_000, leases: leasesOf(cut), dependents: disturbed },
];
const heldAt = (at: number, renewedAt: readonly (number | null)[]): ProbeRun => ({
  at,
  leases: leasesOf(renewedAt),
  dependents: held,
});
const inOutage = (settings = defaultSettings): ProbeMemory => {
  const decision = runProbes(
    emptyProbeMemory,
    outage.map((run) => ({ ...run, settings })),
  ).at(-1)?.decision;
  expect(decision?.verdict.kind).toBe('unhealthy');
  return decision?.memory ?? emptyProbeMemory;
};

/** Runs after the outage: all renew but `node-1`, which had expired before it; the same without `node-5`; and `node-2` to `node-5` silent since `since`. */
const allBack = (at: number): ProbeRun => heldAt(at, back(at, 2, 3, 4, 5));
const oneLate = (at: number): ProbeRun => heldAt(at, back(at, 2, 3, 4));
const silent = (at: number, since: number): ProbeRun => heldAt(at, back(since, 2, 3, 4, 5));
const withDuration = (run: ProbeRun, durationSeconds: number): ProbeRun => ({
  ...run,
  leases: run.leases.map((lease) => ({ ...lease, durationSeconds })),
});
/** `node-5` is late again: it has renewed at `since`. */
const lateAgain = (at: number, since: number): ProbeRun => heldAt(at, [20_000, at, at, at, since]);
const failing = (at: number): ProbeRun => ({
  ...heldAt(at, cut),
  failures: { version: new ApiError({ code: 'ServerError', message: 'x' }) },
});

describe('a held shoot', () => {
  it('waits until all candidates renew that were alive before the outage', () => {
    const [waiting, landed] = runProbes(inOutage(), [oneLate(126_000), allBack(131_000)]);
    expect(waiting?.decision).toMatchObject({
      verdict: { kind: 'landing', renewed: 3, awaited: 4, latest: 186_000 },
      reason: '1/5 node leases expired, threshold 0.6; landing: 3 of 4 renewed, in 60 s at the latest',
      nextRunAt: 131_000,
    });
    expect(landed?.decision).toMatchObject({
      verdict: { kind: 'healthy' },
      reason: '1/5 node leases expired, threshold 0.6',
    });
  });

  it.each<{ readonly what: string; readonly runs: readonly ProbeRun[]; readonly kinds: string }>([
    {
      what: 'waits for a candidate whose last renewal is one and a half intervals old',
      runs: [oneLate(124_000), lateAgain(140_000, 125_000)],
      kinds: 'landing landing',
    },
    {
      what: 'does not wait for one that is a millisecond younger',
      runs: [oneLate(124_000), lateAgain(140_000, 125_001)],
      kinds: 'landing healthy',
    },
    {
      what: 'does not wait for one whose lease is long, and has missed no renewal',
      runs: [withDuration(oneLate(126_000), 69), withDuration(oneLate(126_000), 70)],
      kinds: 'landing healthy',
    },
    {
      what: 'waits for a late candidate for landingTimeout, and stays healthy afterwards',
      runs: [126_000, 185_999, 186_000, 196_000].map(oneLate),
      kinds: 'landing landing healthy healthy',
    },
    {
      what: 'restarts the landing when the share of expired leases reaches the threshold again',
      runs: [oneLate(126_000), heldAt(156_000, back(126_000, 2, 3, 4)), ...[166_000, 225_999, 226_000].map(oneLate)],
      kinds: 'landing unhealthy landing landing healthy',
    },
    {
      what: 'lands again, but not beyond the end of the first wait, if one is late again before it is restored',
      runs: [
        ...[allBack(131_000), silent(146_100, 131_000), lateAgain(160_000, 130_000)],
        ...[lateAgain(190_999, 160_000), lateAgain(191_000, 160_000)],
      ],
      kinds: 'healthy landing landing landing healthy',
    },
    {
      what: 'waits from the end of a failure of the API server, in which no kubelet can renew, and then goes on being held',
      runs: [
        ...[oneLate(126_000), failing(130_000)],
        ...[190_000, 209_999, 210_000, 212_000].map((at) => heldAt(at, back(126_000, 2, 3, 4))),
      ],
      kinds: 'landing failed landing landing confirming unhealthy',
    },
  ])('$what', ({ runs, kinds }) => {
    expect(kindsOf(inOutage(), runs).join(' ')).toBe(kinds);
  });

  it('is looked at again after 5 s, or half of the interval if that is longer, and a second later at the earliest', () => {
    const settings = { ...defaultSettings, probeIntervalMs: 30_000 };
    expect(runProbes(inOutage(), [{ ...oneLate(126_000), settings }])[0]?.decision.nextRunAt).toBe(141_000);
    const [, almost] = runProbes(inOutage(), [oneLate(126_000), oneLate(185_500)]);
    expect(almost?.decision).toMatchObject({ verdict: { kind: 'landing' }, nextRunAt: 186_500 });
  });

  it('names three of the candidates for which it waits', () => {
    const fresh = (at: number, count: number) =>
      Array.from({ length: 10 }, (_, index) => (index < count ? at : 100_000));
    const dark = [95_000, 101_000, 120_000, 122_000].map((at) => ({
      at,
      leases: leasesOf(fresh(Math.min(at, 100_000), 10)),
      dependents: disturbed,
    }));
    const memory = runProbes(emptyProbeMemory, dark).at(-1)!.decision.memory;
    const giveUp = (count: number) =>
      runProbes(
        memory,
        [126_000, 186_000].map((at) => heldAt(at, fresh(at, count))),
      ).map(({ decision }) => decision);
    const [waiting, gaveUp] = giveUp(6);
    expect(waiting?.verdict).toMatchObject({ kind: 'landing', late: ['node-7', 'node-8', 'node-9'] });
    expect(gaveUp?.reason).toContain('; no longer waiting for 4 of 10: node-7, node-8, node-9 and others');
    expect(giveUp(7)[1]?.reason).toMatch(/; no longer waiting for 3 of 10: node-8, node-9, node-10$/);
  });

  it.each([
    { landingTimeoutMs: 5_000, is: 'landing' },
    { landingTimeoutMs: 0, is: 'healthy' },
  ])(
    'after a failure of the API server waits until leases can expire: landingTimeout $landingTimeoutMs, $is',
    (given) => {
      const settings = { ...defaultSettings, landingTimeoutMs: given.landingTimeoutMs };
      const stale = [150_000, 160_000].map((at) => heldAt(at, back(126_000, 2, 3, 4)));
      const runs = [oneLate(126_000), failing(128_000), ...stale].map((run) => ({ ...run, settings }));
      expect(kindsOf(inOutage(settings), runs).at(-1)).toBe(given.is);
    },
  );

  it('does not wait for a node that is no candidate any more, nor if none is left', () => {
    const nodes = ['node-1', 'node-2', 'node-3', 'node-4'].map(nodeOf);
    for (const left of [nodes, []]) {
      expect(kindsOf(inOutage(), [{ ...oneLate(126_000), nodes: left }])).toEqual(['healthy']);
    }
  });

  it('lands again, and waits anew, if all seem to be cut off again before it is restored', () => {
    const runs = [allBack(131_000), silent(152_000, 131_000), lateAgain(154_000, 130_000), allBack(159_000)];
    expect(kindsOf(inOutage(), runs)).toEqual(['healthy', 'confirming', 'landing', 'healthy']);
    expect(runProbes(inOutage(), runs)[2]?.decision.verdict).toMatchObject({ latest: 214_000 });
  });

  it('knows which candidates had expired before an outage that began before all watches showed what is held', () => {
    const unseen = { dependents: { ...disturbed, mayBeHeld: true } };
    const runs = [...outage.map((run) => ({ ...run, ...unseen })), allBack(131_000)];
    expect(kindsOf(emptyProbeMemory, runs)).toEqual(['landing', 'landing', 'confirming', 'unhealthy', 'healthy']);
  });

  it('waits for all candidates after a restart, which knows of no outage', () => {
    expect(kindsOf(emptyProbeMemory, [126_000, 131_000, 186_000].map(allBack))).toEqual([
      'landing',
      'landing',
      'healthy',
    ]);
  });

  it('does not count a timestamp as a renewal after a restart: clocks may be ahead', () => {
    const ahead = leasesOf([122_000, 122_000, 122_000], { skewMs: 120_000, stamped: false });
    const runs = [126_000, 131_000].map((at) => ({ at, leases: ahead, dependents: held }));
    expect(kindsOf(emptyProbeMemory, runs)).toEqual(['landing', 'landing']);
  });
});

it('a healthy shoot without held resources never lands', () => {
  const [released] = runProbes(inOutage(), [{ ...oneLate(126_000), dependents: disturbed }]);
  expect([released?.decision.verdict.kind, released?.decision.memory.restoredAt]).toEqual(['healthy', undefined]);
});

it('an outage began with its first verdict, also if resources were held before', () => {
  const last = [132_000, 140_000].map((at) => silent(at, 101_000));
  const results = runProbes(emptyProbeMemory, [allBack(101_000), ...last]).map(({ decision }) => decision);
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(['landing', 'unhealthy', 'unhealthy']);
  expect(results.map(({ memory }) => memory.outage?.since)).toEqual([undefined, 120_000, 120_000]);
});

it('a shoot of which nothing was held after all was not restored', () => {
  const fresh = (at: number) => heldAt(at, [at, at, at]);
  const runs = [100_000, 110_000].map((at) => ({ ...fresh(at), dependents: { ...disturbed, mayBeHeld: true } }));
  const last = runProbes(emptyProbeMemory, [...runs, { ...fresh(120_000), dependents: disturbed }]).at(-1)?.decision;
  expect([last?.verdict.kind, last?.memory.restoredAt]).toEqual(['healthy', undefined]);
});

describe('a shoot that trips again within ten minutes of its restoration', () => {
  const everyone = [1, 2, 3, 4, 5];
  const fresh = (at: number): readonly (number | null)[] => back(at, ...everyone);
  const dark = (since: number): readonly (number | null)[] => everyone.map(() => since);
  /** Memory of a shoot whose restoration began at 126 s, and that was cut off again after `at`. */
  const tripAgain = (at: number): ProbeMemory => {
    const last = runProbes(inOutage(), [
      allBack(126_000),
      { ...heldAt(140_000, fresh(140_000)), dependents: disturbed },
      { ...heldAt(at, dark(at)), dependents: disturbed },
      { ...heldAt(at + 20_000, dark(at)), dependents: disturbed },
      { ...heldAt(at + 22_000, dark(at)), dependents: disturbed },
    ]).at(-1)?.decision;
    expect(last?.verdict.kind).toBe('unhealthy');
    return last?.memory ?? emptyProbeMemory;
  };

  it('does not trip if no watch has shown held resources before', () => {
    const unseen = { dependents: { ...disturbed, mayBeHeld: true } };
    const last = runProbes(emptyProbeMemory, [
      ...[0, 10_000, 20_000, 30_000].map((at) => ({ ...heldAt(at, fresh(at)), ...unseen })),
      ...[50_000, 70_000, 72_000].map((at) => ({ ...heldAt(at, dark(30_000)), ...unseen })),
    ]).at(-1)?.decision;
    expect(last?.verdict.kind).toBe('unhealthy');
    expect(last?.memory.outage?.isFlapping).toBe(false);
  });

  it('lands only when all have renewed for two minutes', () => {
    const memory = tripAgain(150_000);
    expect(memory).toMatchObject({ outage: { isFlapping: true }, restoredAt: 126_000 });
    const runs = [180_000, 200_000, 299_999, 300_000].map((at) => heldAt(at, fresh(at)));
    expect(kindsOf(memory, runs)).toEqual(['landing', 'landing', 'landing', 'healthy']);
    expect(runProbes(memory, runs)[0]?.decision.reason).toContain(
      'landing: 5 of 5 renewed, flapping, so all must renew for 120 s, in 240 s at the latest',
    );
    expect(kindsOf(memory, [{ ...heldAt(180_000, fresh(180_000)), nodes: [] }])).toEqual(['healthy']);
  });

  it.each([
    { what: 'flaps if it is cut off before all of it is restored', left: 2, restoredAt: 131_000 },
    { what: 'does not flap if nothing could be restored since it landed', left: 3, restoredAt: undefined },
  ])('$what', ({ left, restoredAt }) => {
    const last = runProbes(inOutage(), [
      heldAt(131_000, fresh(131_000)),
      ...[152_000, 160_000].map((at) => ({ ...heldAt(at, dark(131_000)), dependents: { ...held, held: left } })),
    ]).at(-1)?.decision;
    expect(last).toMatchObject({ verdict: { kind: 'unhealthy' }, memory: { outage: { isFlapping: left < 3 } } });
    expect(last?.memory.restoredAt).toBe(restoredAt);
  });

  /** Run at `at` in which all nodes renew but the last, which renewed at `since`. */
  const lastLate = (at: number, since: number): ProbeRun => heldAt(at, [...fresh(at).slice(0, -1), since]);

  it('restarts that time when a candidate falls silent', () => {
    const [before, ...after] = [180_000, 220_000, 339_999, 340_000].map((at) => heldAt(at, fresh(at)));
    const kinds = kindsOf(tripAgain(150_000), [before!, lastLate(210_000, 179_000), ...after]);
    expect(kinds).toEqual(['landing', 'landing', 'landing', 'landing', 'healthy']);
  });

  it('waits for a candidate that stays silent no longer than twice that time', () => {
    const runs = [180_000, 300_000, 419_999, 420_000].map((at) => lastLate(at, 150_000));
    expect(kindsOf(tripAgain(150_000), runs)).toEqual(['landing', 'landing', 'landing', 'healthy']);
  });

  it('is no flapping after ten minutes, nor with landingTimeout 0s', () => {
    const isFlapping = (at: number): boolean | undefined => tripAgain(at).outage?.isFlapping;
    expect([isFlapping(726_000 - 22_001), isFlapping(726_000 - 22_000)]).toEqual([true, false]);
    const settings = { ...defaultSettings, landingTimeoutMs: 0 };
    const [again] = runProbes({ ...emptyProbeMemory, restoredAt: 120_000 }, [
      { ...heldAt(150_000, dark(100_000)), settings },
      { ...heldAt(152_000, dark(100_000)), settings },
    ]).slice(-1);
    expect(again?.decision.memory.outage?.isFlapping).toBe(false);
  });
});
