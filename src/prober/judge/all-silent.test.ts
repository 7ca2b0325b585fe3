import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import {
  type ProbeRun,
  bySingleLeases,
  defaultSettings,
  held,
  leasesOf,
  nodeOf,
  runProbes,
  undisturbed,
} from '../testing/probe-run.ts';
import { emptyProbeMemory } from './probe-memory.ts';

/** Leases renewed at 80 s, 79 s and 78 s. */
const leases = leasesOf([80_000, 79_000, 78_000]);
/** Observations that show all leases renewed. */
const earlier: readonly ProbeRun[] = [
  { at: 70_000, leases: leasesOf([69_000, 68_000, 67_000]) },
  { at: 82_000, leases },
];

const verdictsAt = (times: readonly number[], rest: Partial<ProbeRun> = {}) =>
  runProbes(
    emptyProbeMemory,
    [...earlier, ...times.map((at) => ({ at, leases }))].map((run) => ({ ...run, ...rest })),
  )
    .slice(earlier.length)
    .map(({ decision }) => decision);

const kindsAt = (times: readonly number[], rest: Partial<ProbeRun> = {}): readonly string[] =>
  verdictsAt(times, rest).map(({ verdict }) => verdict.kind);

describe('when no candidate has renewed for half of the grace period', () => {
  it('a second observation two seconds later scales down', () => {
    const [before, first, second] = verdictsAt([99_999, 100_000, 102_000]);
    expect(before).toMatchObject({ verdict: { kind: 'healthy' }, nextRunAt: 100_999 });
    expect(first).toMatchObject({
      verdict: { kind: 'confirming' },
      reason: 'none of 3 candidates has renewed for 20.0 s; looking again',
      nextRunAt: 102_000,
    });
    expect(second).toMatchObject({
      verdict: { kind: 'unhealthy', crossedAt: 100_000, earlyByMs: 9_000 },
      reason: 'none of 3 candidates has renewed for 22.0 s',
      counts: { candidates: 3, expired: 0 },
    });
  });

  it.each([
    { what: 'a lazy run', dependents: undisturbed },
    { what: 'an eager run', dependents: { nothingToRestore: false, anyHeld: false, mayBeHeld: false } },
  ])('the next run after $what comes at that instant', ({ dependents }) => {
    const settings = { ...defaultSettings, probeIntervalMs: 30_000 };
    expect(verdictsAt([84_000], { settings, dependents })[0]?.nextRunAt).toBe(100_000);
  });

  it('a renewal between the two observations prevents the scale-down, and the next silence needs a confirmation again', () => {
    const renewed = leasesOf([101_000, 79_000, 78_000]);
    const later = [101_500, 121_000, 123_000].map((at) => ({ at, leases: renewed, settings: defaultSettings }));
    const runs = runProbes(emptyProbeMemory, [...earlier, { at: 100_000, leases }, ...later]).slice(2);
    expect(runs.map(({ decision }) => decision.verdict.kind)).toEqual([
      'confirming',
      'healthy',
      // By then two of three leases have expired.
      'unhealthy',
      'unhealthy',
    ]);
  });

  it('a failed run between the two observations only delays the verdict', () => {
    const error = new ApiError({ code: 'Forbidden', message: 'no' });
    const failed: ProbeRun = { at: 102_000, leases, failures: { leases: error } };
    const runs = runProbes(emptyProbeMemory, [...earlier, { at: 100_000, leases }, failed, { at: 103_000, leases }]);
    expect(runs.slice(2).map(({ decision }) => decision.verdict.kind)).toEqual(['confirming', 'failed', 'unhealthy']);
  });
});

describe('the rule does not apply', () => {
  it.each<{ readonly what: string; readonly rest: Partial<ProbeRun> }>([
    { what: 'to two candidates', rest: { nodes: [nodeOf('node-1'), nodeOf('node-2')] } },
    { what: 'if it is turned off', rest: { settings: bySingleLeases } },
    {
      what: 'before a longer configured time is over',
      rest: { settings: { ...defaultSettings, allSilentAfterMs: 26_001 } },
    },
    { what: 'while the external probe vetoes it', rest: { externalProbe: { mode: 'confirm', state: 'reachable' } } },
  ])('$what', ({ rest }) => {
    expect(kindsAt([104_000, 106_000], rest)).toEqual(['healthy', 'healthy']);
  });

  it('to kubelets that renew less often, until half of their lease duration is over', () => {
    const rarely = (run: ProbeRun): ProbeRun => {
      const settings = { ...defaultSettings, expiryAgeMs: 100_000 };
      return { ...run, settings, leases: run.leases.map((lease) => ({ ...lease, durationSeconds: 120 })) };
    };
    const runs = [...earlier, ...[102_000, 139_999, 140_000, 142_000].map((at) => ({ at, leases }))].map(rarely);
    const kinds = runProbes(emptyProbeMemory, runs).map(({ decision }) => decision.verdict.kind);
    expect(kinds.slice(2)).toEqual(['healthy', 'healthy', 'confirming', 'unhealthy']);
  });

  it('to leases never seen renewed, until they have been observed for as long', () => {
    const runs = runProbes(
      emptyProbeMemory,
      [90_000, 100_000, 109_999, 110_000].map((at) => ({ at, leases: leasesOf([89_000, 88_000, 87_000]) })),
    );
    expect(runs.map(({ decision }) => decision.verdict.kind)).toEqual(['healthy', 'healthy', 'healthy', 'confirming']);
  });

  it('for half of that time after the API server failed, by its responses or by its Deployment', () => {
    const error = new ApiError({ code: 'ServerError', message: 'etcd is away' });
    const failed: ProbeRun = { at: 90_000, leases, failures: { leases: error } };
    const observed = [96_000, 100_000, 105_999, 106_000].map((at) => ({ at, leases }));
    const byAnswers = runProbes(emptyProbeMemory, [...earlier, failed, ...observed]).slice(3);
    const apiServer = { knownSince: 0, unavailable: { since: 90_000, until: 96_000 } };
    const byDeployment = runProbes(emptyProbeMemory, [...earlier, ...observed.map((run) => ({ ...run, apiServer }))]);
    const expected = ['healthy', 'healthy', 'healthy', 'confirming'];
    expect(byAnswers.map(({ decision }) => decision.verdict.kind)).toEqual(expected);
    expect(byDeployment.slice(2).map(({ decision }) => decision.verdict.kind)).toEqual(expected);
  });

  it('for half of that time after responses were late', () => {
    const stalled = { at: 94_000, leases, observation: { stalledUntil: 93_000 } };
    const runs = [...earlier, stalled, ...[100_000, 102_999, 103_000].map((at) => ({ at, leases }))];
    const kinds = runProbes(emptyProbeMemory, runs).map(({ decision }) => decision.verdict.kind);
    expect(kinds.slice(2)).toEqual(['healthy', 'healthy', 'healthy', 'confirming']);
  });

  it('before a shorter time that is configured', () => {
    const settings = { ...defaultSettings, allSilentAfterMs: 12_000 };
    expect(kindsAt([91_999, 92_000, 94_000], { settings })).toEqual(['healthy', 'confirming', 'unhealthy']);
  });
});

it('held resources stay held while all candidates are silent', () => {
  expect(kindsAt([100_000, 102_000, 105_000, 107_000], { dependents: held })).toEqual([
    'confirming',
    'unhealthy',
    'unhealthy',
    'unhealthy',
  ]);
});
