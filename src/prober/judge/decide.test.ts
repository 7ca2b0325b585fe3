import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import {
  type ProbeRun,
  candidatesOf,
  defaultSettings,
  disturbed,
  held,
  leasesOf,
  nodeOf,
  runProbe,
  runProbes,
  undisturbed,
} from '../testing/probe-run.ts';
import { type ProbeMemory, emptyProbeMemory } from './judgement.ts';

const timeout = () => new ApiError({ code: 'Timeout', message: 'timed out' });
const fresh = (count: number, at: number) => Array.from({ length: count }, () => at - 1_000);

/** Decision at 100 s, with `expired` of `candidates` leases not renewed since 50 s, all of them seen before. */
const judge = (
  counts: { readonly expired: number; readonly candidates: number },
  options: { readonly fraction?: number; readonly dependents?: typeof held } = {},
) => {
  const { expired, candidates } = counts;
  const settings = { ...defaultSettings, nodeLeaseFailureFraction: options.fraction ?? 0.6 };
  const { dependents = disturbed } = options;
  const old = Array.from({ length: expired }, () => 50_000);
  const [, last] = runProbes(emptyProbeMemory, [
    { at: 60_000, leases: leasesOf([...old, ...fresh(candidates - expired, 60_000)]), settings, dependents },
    { at: 100_000, leases: leasesOf([...old, ...fresh(candidates - expired, 100_000)]), settings, dependents },
  ]);
  if (last === undefined) throw new Error('no run');
  return last.decision;
};

describe('the verdict', () => {
  it.each([
    [1, 2, 0.6, 'healthy'],
    [2, 2, 0.6, 'unhealthy'],
    [1, 2, 0.5, 'unhealthy'],
    [3, 5, 0.6, 'unhealthy'],
    [5, 9, 0.6, 'healthy'],
    [99, 100, 1, 'healthy'],
    [100, 100, 1, 'unhealthy'],
  ])('%d of %d expired with fraction %d: %s', (expired, candidates, fraction, kind) => {
    const decision = judge({ expired, candidates }, { fraction });
    expect(decision.verdict.kind).toBe(kind);
    expect(decision.counts).toEqual({ candidates, expired });
    expect(decision.reason).toContain(`${String(expired)}/${String(candidates)} node leases expired`);
    expect(decision.reason).toContain(String(fraction));
  });

  it('rests on candidates only, and comes with the reason for each lease and node that does not count', () => {
    const rusty = { ...nodeOf('node-4'), pool: 'a', trueConditions: new Set(['Rusty']) };
    const { decision } = runProbe(emptyProbeMemory, {
      at: 100_000,
      leases: leasesOf([99_000, 50_000, 50_000, 50_000]),
      nodes: [
        nodeOf('node-1'),
        nodeOf('node-2'),
        rusty,
        nodeOf('new'),
        { ...nodeOf('unmanaged'), managedByMcm: false },
      ],
      machines: ['node-1', 'node-4', 'new'].map((node) => ({ node, phase: 'Running', deleting: false })),
      settings: { ...defaultSettings, poolConditions: new Map([['a', ['Rusty']]]) },
    });
    expect(decision).toMatchObject({ verdict: { kind: 'skipped' }, counts: { candidates: 1, expired: 0 } });
    const { nodes, leftOut = [] } = decision.memory.candidates ?? {};
    expect(nodes).toBe(5);
    expect(Object.fromEntries(leftOut)).toEqual({
      'node-2': 'its Machine is gone, or it never had one',
      'node-3': 'there is no such node',
      'node-4': 'its condition Rusty is True',
      new: 'it has no lease yet',
      unmanaged: 'not managed by MCM',
    });
  });

  it('has the instant at which the threshold was crossed: the expiry of the lease that reached it', () => {
    const [, last] = runProbes(emptyProbeMemory, [
      { at: 60_000, leases: leasesOf([40_000, 45_000, 48_000, 58_000, 59_500]) },
      { at: 100_000, leases: leasesOf([40_000, 45_000, 48_000, 99_000, 99_500]) },
    ]);
    expect(last?.decision.verdict).toEqual({ kind: 'unhealthy', crossedAt: 78_000, graceEndsAt: 88_000 });
  });
});

describe('a single candidate', () => {
  const nothing = 'a single candidate node proves nothing about the path';
  const renews = 'the only candidate node renews its lease';

  it.each([
    { dependents: disturbed, expired: 0, verdict: { kind: 'skipped' }, reason: nothing },
    { dependents: disturbed, expired: 1, verdict: { kind: 'skipped' }, reason: nothing },
    { dependents: held, expired: 1, verdict: { kind: 'skipped' }, reason: nothing },
    { dependents: held, expired: 0, verdict: { kind: 'healthy' }, reason: renews },
  ])('$verdict.kind with $expired expired, held: $dependents.held', ({ dependents, expired, verdict, reason }) => {
    const decision = judge({ expired, candidates: 1 }, { dependents });
    expect(decision).toMatchObject({ verdict, reason });
    expect(decision.counts).toEqual({ candidates: 1, expired });
  });
});

describe('a list that shows an outage for the first time', () => {
  const judgeAt = (at: number, renewedAt: readonly number[], memory: ProbeMemory = emptyProbeMemory) =>
    runProbe(memory, { at, leases: leasesOf(renewedAt) }).decision;

  it('counts at once if enough leases that an earlier list shows have expired', () => {
    const seen = judgeAt(60_000, [50_000, 50_000, 50_000]).memory;
    expect(judgeAt(100_000, [50_000, 50_000, 50_000, 50_000, 50_000], seen)).toMatchObject({
      verdict: { kind: 'unhealthy' },
      counts: { candidates: 5, expired: 5 },
    });
    expect(judgeAt(100_000, [50_000, 50_000, 99_000, 50_000, 50_000], seen)).toMatchObject({
      verdict: { kind: 'confirming' },
      counts: { candidates: 5, expired: 4 },
    });
  });

  it('is confirmed by another after 2 s if it rests on leases that no earlier list shows', () => {
    const leases = [50_000, 50_000, 50_000];
    const first = judgeAt(100_000, leases);
    expect(first).toMatchObject({
      verdict: { kind: 'confirming' },
      nextRunAt: 102_000,
      counts: { candidates: 3, expired: 3 },
      memory: { suspectedUntil: 102_000 },
    });
    expect(judgeAt(101_999, leases, first.memory).verdict.kind).toBe('confirming');
    expect(judgeAt(102_000, leases, first.memory).verdict).toMatchObject({ kind: 'unhealthy', crossedAt: 70_000 });
    const renewed = judgeAt(102_000, [101_000, 101_000, 50_000], first.memory);
    expect([renewed.verdict.kind, renewed.memory.suspectedUntil]).toEqual(['healthy', undefined]);
  });

  it('is confirmed after 2 s if all are silent, by the next good run should that one fail', () => {
    const seen = judgeAt(85_000, [77_000, 79_000, 80_000]).memory;
    const leases = leasesOf([77_000, 79_000, 80_000]);
    const runs = runProbes(seen, [
      { at: 100_000, leases },
      { at: 102_000, leases, failures: { nodes: timeout() } },
      { at: 104_000, leases },
    ]);
    expect(runs.map(({ decision }) => decision.verdict.kind)).toEqual(['confirming', 'failed', 'unhealthy']);
    expect(runs[0]?.decision.reason).toBe('none of 3 candidates has renewed for 20.0 s; looking again');
    expect(runs[2]?.decision.verdict).toEqual({ kind: 'unhealthy', crossedAt: 100_000, graceEndsAt: 119_000 });
  });

  it.each([
    ['of which an earlier list shows no lease', []],
    ['of which an earlier list shows all leases but one', [80_000, 80_000]],
  ])('is confirmed after 7.5 s if all are silent %s: perhaps no kubelet could renew', (_, before) => {
    const { memory } = judgeAt(85_000, before);
    const first = judgeAt(100_000, [80_000, 80_000, 80_000], memory);
    expect(first).toMatchObject({ verdict: { kind: 'confirming' }, nextRunAt: 107_500 });
  });

  it.each([
    [73_000, 103_000],
    [70_100, 102_000],
  ])('is confirmed when leases renewed at %i have expired, if that is sooner, but not before 2 s', (renewed, at) => {
    const leases = [renewed, renewed, renewed];
    const first = judgeAt(100_000, leases);
    expect(first).toMatchObject({ verdict: { kind: 'confirming' }, nextRunAt: at });
    expect(judgeAt(at, leases, first.memory).verdict.kind).toBe('unhealthy');
  });

  it('is followed by another a second later at the earliest', () => {
    const list = { sentAt: 98_000, receivedAt: 98_000 };
    const first = runProbe(emptyProbeMemory, { at: 100_000, leases: leasesOf([50_000, 50_000]), list }).decision;
    expect(first).toMatchObject({ verdict: { kind: 'confirming' }, nextRunAt: 101_000 });
  });

  it('is confirmed 7.5 s after a time in which only we could not connect, also if leases have expired, or it was suspected long before', () => {
    const refused = new ApiError({
      code: 'ConnectionError',
      message: 'refused',
      cause: { code: 'ECONNREFUSED', phase: 'connecting' },
    });
    const silent = [59_000, 59_000, 59_000];
    const kindsOf = (times: readonly number[]): string => {
      const [leases, failures] = [leasesOf(silent), { version: refused }];
      const runs = times.map((at) => (at < 0 ? { at: -at, leases, failures } : { at, leases }));
      return runProbes(judgeAt(60_000, silent).memory, runs)
        .map(({ decision }) => decision.verdict.kind)
        .join(' ');
    };
    // At negative times we cannot connect.
    expect(kindsOf([-80_000, 100_000, 107_499, 107_500])).toBe('failed confirming confirming unhealthy');
    expect(kindsOf([80_000, -82_000, 102_000])).toBe('confirming failed unhealthy');
    expect(kindsOf([80_000, -82_000, 102_001, 109_501])).toBe('confirming failed confirming unhealthy');
    expect(kindsOf([80_000, 82_000, -92_000, 120_000])).toBe('confirming unhealthy failed unhealthy');
  });
});

describe('clocks of nodes', () => {
  it.each([-300_000, -30_000, 0])('that differ by %i ms are no outage at the start of a prober', (skewMs) => {
    for (const stamped of [true, false]) {
      const at = (now: number, ...renewed: readonly number[]): ProbeRun => ({
        at: now,
        leases: leasesOf(renewed, { skewMs, stamped }),
      });
      const runs = runProbes(emptyProbeMemory, [
        at(100_000, 92_000, 95_000),
        at(102_000, 92_000, 95_000),
        at(112_000, 102_500, 105_500),
      ]);
      expect(runs.map(({ decision }) => decision.verdict.kind)).toEqual(['healthy', 'healthy', 'healthy']);
    }
  });
});

describe('nodes and machines', () => {
  it.each([
    { what: 'all fresh', renewed: [99_000, 99_000, 99_000], fraction: 0.6, lazy: true },
    { what: 'a single lease, expired', renewed: [50_000], fraction: 0.01, lazy: true },
    {
      what: 'one expired, which may be half of two candidates',
      renewed: [50_000, 99_000, 99_000],
      fraction: 0.5,
      lazy: false,
    },
    {
      what: 'one expired, which is less than 0.6 of two candidates',
      renewed: [50_000, 99_000, 99_000],
      fraction: 0.6,
      lazy: true,
    },
    { what: 'two that expire at this instant', renewed: [70_000, 70_000, 99_000], fraction: 1, lazy: false },
  ])('are not listed with $what (fraction $fraction): $lazy', ({ renewed, fraction, lazy }) => {
    const settings = { ...defaultSettings, nodeLeaseFailureFraction: fraction };
    const run = { at: 100_000, leases: leasesOf(renewed), settings };
    const known = { ...emptyProbeMemory, candidates: candidatesOf([], 90_000) };
    const { isEager, decision } = runProbe(known, { ...run, dependents: undisturbed });
    expect(isEager).toBe(!lazy);
    if (lazy) expect(decision).toMatchObject({ verdict: { kind: 'healthy' } });
    if (lazy) expect(decision.counts).toBeUndefined();
    if (lazy) expect(decision.reason).toMatch(/^[01]\/[0-3] leases expired: no set of nodes reaches the threshold$/);
    expect(runProbe(known, { ...run, dependents: disturbed }).isEager).toBe(true);
  });

  it.each([
    { what: 'while leases have expired', renewed: [50_000, 99_000, 99_000], dependents: disturbed, isUrgent: true },
    { what: 'while something is held', renewed: [99_000, 99_000, 99_000], dependents: held, isUrgent: true },
    { what: 'of a healthy shoot', renewed: [99_000, 99_000, 99_000], dependents: disturbed, isUrgent: false },
  ])('are listed before others $what: $isUrgent', ({ renewed, dependents, isUrgent }) => {
    const run = { at: 100_000, leases: leasesOf(renewed), dependents };
    expect(runProbe(emptyProbeMemory, run)).toMatchObject({ isEager: true, isUrgent });
  });

  it('are listed in the first run, and every five minutes', () => {
    const eagerAt = (...times: readonly number[]): readonly boolean[] =>
      runProbes(
        emptyProbeMemory,
        times.map((at) => ({ at, leases: leasesOf(fresh(3, at)), dependents: undisturbed })),
      ).map(({ isEager }) => isEager);
    expect(eagerAt(100_000, 110_000, 399_999, 400_000, 410_000)).toEqual([true, false, false, true, false]);
  });
});
