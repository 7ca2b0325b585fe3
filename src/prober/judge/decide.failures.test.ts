import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import {
  type ProbeRun,
  type ReadName,
  defaultSettings,
  disturbed,
  leasesOf,
  runProbe,
  runProbes,
  bySingleLeases,
} from '../testing/probe-run.ts';
import { type ProbeMemory, emptyProbeMemory } from './probe-memory.ts';

/** Kind of failure that a run without a list of leases adds to the spell. */
const shown: Readonly<Record<ApiErrorCode, 'failed' | undefined>> = {
  ConnectionError: 'failed',
  Timeout: 'failed',
  ServerError: 'failed',
  MalformedResponse: 'failed',
  TooManyRequests: 'failed',
  BadRequest: undefined,
  Unauthorized: undefined,
  Forbidden: undefined,
  NotFound: undefined,
  MethodNotAllowed: undefined,
  AlreadyExists: undefined,
  Conflict: undefined,
  Expired: undefined,
  Invalid: undefined,
  Rejected: undefined,
};
const codes = Object.keys(shown) as ApiErrorCode[];
const failure = (code: ApiErrorCode, retryAfterMs?: number): ApiError =>
  new ApiError({ code, message: `it broke: ${code}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

/** Leases of a shoot that was healthy at 60 s; none has been renewed since 50 s. */
const silent = leasesOf([50_000, 50_000, 50_000]);
const seen: ProbeMemory = runProbe(emptyProbeMemory, { at: 60_000, leases: silent }).decision.memory;

const failAt = (need: ReadName, code: ApiErrorCode, rest: Partial<ProbeRun> = {}) =>
  runProbe(seen, { at: 100_000, startedAt: 95_000, leases: silent, failures: { [need]: failure(code) }, ...rest });

const failureOf = (need: ReadName, code: ApiErrorCode): string => {
  if (code === 'TooManyRequests' && need !== 'machines') return 'throttled';
  return need === 'version' ? 'api_server_unreachable' : 'lease_list_failed';
};

describe.each(['version', 'leases', 'nodes', 'machines'] as const)('a failure of %s', (need) => {
  it.each(codes)('%s ends the run without scaling', (code) => {
    const { decision } = failAt(need, code);
    expect(decision.verdict).toMatchObject({ kind: 'failed', failure: failureOf(need, code), error: { code } });
    expect(decision.reason).toBe(`it broke: ${code}`);
    expect(decision.counts).toBeUndefined();
    expect(decision.memory.history.renewedAt).toBe(seen.history.renewedAt);
    expect(decision.nextRunAt).toBe(failureOf(need, code) === 'throttled' ? 110_000 : 101_000);
  });

  it.each(codes)('%s starts a spell only if there is no list of leases', (code) => {
    const { memory } = failAt(need, code).decision;
    const nothing = { since: 95_000, failed: false, unconnected: false, ours: false };
    const kind = shown[code];
    const expected = kind === undefined ? nothing : { ...nothing, [kind]: true };
    expect(memory.unreachableSpell).toEqual(need === 'version' || need === 'leases' ? expected : undefined);
  });

  it.each([
    ['ECONNREFUSED', 'connecting', 'unconnected'],
    ['ECONNRESET', 'connecting', 'unconnected'],
    ['EHOSTUNREACH', 'connecting', 'unconnected'],
    ['ETIMEDOUT', 'connecting', 'unconnected'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'connecting', 'unconnected'],
    ['ECONNRESET', 'waiting for the answer', 'failed'],
    ['ECONNRESET', 'reading the answer', 'failed'],
    ['HPE_INVALID_CONSTANT', 'waiting for the answer', 'failed'],
    ['EMFILE', 'connecting', 'ours'],
    ['EADDRNOTAVAIL', 'connecting', 'ours'],
    ['ENOBUFS', 'reading the answer', 'ours'],
    ['ENOTFOUND', 'connecting', 'ours'],
    ['EAI_AGAIN', 'connecting', 'ours'],
    ['EPROXY503', 'connecting', 'ours'],
    ['CERT_HAS_EXPIRED', 'connecting', 'ours'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'connecting', 'ours'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'connecting', 'ours'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'connecting', 'ours'],
  ] as const)('%s while %s shows: %s', (code, phase, kind) => {
    const error = new ApiError({ code: 'ConnectionError', message: 'x', cause: { code, phase } });
    const { memory } = failAt(need, 'ConnectionError', { failures: { [need]: error } }).decision;
    const expected = { since: 95_000, failed: false, unconnected: false, ours: false, [kind]: true };
    expect(memory.unreachableSpell).toEqual(need === 'version' || need === 'leases' ? expected : undefined);
  });

  it.each([
    ['connecting', 'unconnected'],
    ['waiting for the answer', 'failed'],
    ['reading the answer', 'failed'],
  ] as const)('a timeout while %s shows: %s', (phase, kind) => {
    const error = new ApiError({ code: 'Timeout', message: 'x', cause: { code: 'ETIMEDOUT', phase } });
    const { memory } = failAt(need, 'Timeout', { failures: { [need]: error } }).decision;
    expect(memory.unreachableSpell?.[kind]).toBe(need === 'version' || need === 'leases' ? true : undefined);
  });
});

describe('a kubeconfig that cannot be used', () => {
  it('ends the run and proves nothing about the API server', () => {
    const error = new KubeconfigError('users[0].user.exec', 'is not allowed');
    const { decision } = runProbe(seen, { at: 100_000, leases: silent, failures: { version: error } });
    expect(decision).toMatchObject({
      verdict: { kind: 'failed', failure: 'kubeconfig_unusable', error },
      nextRunAt: 101_000,
      reason: 'kubeconfig: users[0].user.exec: is not allowed',
    });
    const unreachableSpell = { since: 100_000, failed: false, unconnected: false, ours: false };
    expect(decision.memory).toEqual({ ...seen, unreachableSpell, failedRuns: { count: 1, isExpired: true } });
  });
});

describe('429', () => {
  const settings = { ...defaultSettings, probeIntervalMs: 4_000 };

  it.each([
    { retryAfterMs: undefined, probeIntervalMs: 4_000, random: 0, next: 110_000 },
    { retryAfterMs: 0, probeIntervalMs: 4_000, random: 0, next: 110_000 },
    { retryAfterMs: 9_999, probeIntervalMs: 4_000, random: 0, next: 110_000 },
    { retryAfterMs: 10_001, probeIntervalMs: 4_000, random: 0, next: 110_001 },
    { retryAfterMs: 60_000, probeIntervalMs: 4_000, random: 0, next: 160_000 },
    { retryAfterMs: undefined, probeIntervalMs: 10_000, random: 0.5, next: 111_000 },
    { retryAfterMs: undefined, probeIntervalMs: 30_000, random: 0, next: 130_000 },
    { retryAfterMs: 60_000, probeIntervalMs: 30_000, random: 0, next: 160_000 },
    { retryAfterMs: 600_000, probeIntervalMs: 4_000, random: 0, next: 700_000 },
    // No response may stop the probes of a shoot for good.
    { retryAfterMs: 1e12, probeIntervalMs: 4_000, random: 0, next: 700_000 },
  ])('Retry-After $retryAfterMs ms, interval $probeIntervalMs: next run at $next', (row) => {
    for (const need of ['version', 'leases', 'nodes'] as const) {
      const { decision } = failAt(need, 'TooManyRequests', {
        failures: { [need]: failure('TooManyRequests', row.retryAfterMs) },
        settings: { ...settings, probeIntervalMs: row.probeIntervalMs },
        random: row.random,
      });
      expect(decision.nextRunAt).toBe(row.next);
    }
  });

  it('from the seed does not count as throttling by the shoot', () => {
    const failures = { machines: failure('TooManyRequests', 60_000) };
    const { decision } = failAt('machines', 'TooManyRequests', { failures, settings });
    expect(decision).toMatchObject({ verdict: { failure: 'lease_list_failed' }, nextRunAt: 104_000 });
  });
});

describe('spells of downtime', () => {
  /** Failed runs that started at `failedAt`, and a good one whose list of leases arrived at `back`. */
  const spell = (failedAt: readonly number[], back: number, last: Partial<ProbeRun> = {}) => {
    const failures = { version: failure('ConnectionError') };
    const failed = failedAt.map((startedAt) => ({ at: startedAt + 5_000, startedAt, leases: silent, failures }));
    const results = runProbes(seen, [...failed, { at: back, leases: silent, ...last }]);
    const result = results.at(-1);
    if (result === undefined) throw new Error('no run');
    return result.decision;
  };

  it.each([
    { failedAt: [80_001], back: 95_000, isReset: false },
    { failedAt: [80_000], back: 95_000, isReset: true },
    { failedAt: [80_000], back: 94_900, isReset: false },
    { failedAt: [70_000, 90_000], back: 91_000, isReset: true },
    { failedAt: [70_000, 81_000, 92_000], back: 200_000, isReset: true },
  ])('failed from $failedAt, back at $back: reset $isReset', ({ failedAt, back, isReset }) => {
    const decision = spell(failedAt, back);
    expect(decision.verdict.kind).toBe(isReset ? 'healthy' : 'unhealthy');
    expect(decision.counts).toEqual({ candidates: 3, expired: isReset ? 0 : 3 });
    expect(decision.memory).not.toHaveProperty('unreachable');
    const { memory } = decision;
    if (!isReset) return;
    const after = (at: number) => runProbe(memory, { at, leases: silent }).decision.counts?.expired;
    expect([after(back + 29_999), after(back + 30_000)]).toEqual([0, 3]);
  });

  it('end when the list has arrived, however long it took', () => {
    const observation = { startedAt: 80_000, endedAt: 95_000, wall: 0 };
    expect(spell([79_999], 96_000, { observation }).counts?.expired).toBe(0);
    expect(spell([80_000], 96_000, { observation }).memory.history.notOlderThan).toBe(95_000);
  });

  it('of less than 15 s do not add up', () => {
    const failures = { leases: failure('ServerError') };
    const [, , , last] = runProbes(seen, [
      { at: 80_000, leases: silent, failures },
      { at: 90_000, leases: silent },
      { at: 91_000, leases: silent, failures },
      { at: 105_000, leases: silent },
    ]);
    expect(last?.decision).toMatchObject({ verdict: { kind: 'unhealthy' }, counts: { expired: 3 } });
  });

  it('are reset one by one', () => {
    const failures = { leases: failure('ServerError') };
    const runs = runProbes(seen, [
      { at: 80_000, leases: silent, failures },
      { at: 95_000, leases: silent },
      { at: 100_000, leases: silent, failures },
      { at: 120_000, leases: silent },
      { at: 149_999, leases: silent, settings: bySingleLeases },
      { at: 150_000, leases: silent },
    ]);
    expect(runs.map(({ decision }) => decision.verdict.kind)).toEqual([
      'failed',
      'healthy',
      'failed',
      'healthy',
      'healthy',
      'unhealthy',
    ]);
  });

  it('continue through failures of other kinds until a list succeeds', () => {
    const dark = { version: failure('Timeout') };
    const other = { leases: failure('Forbidden') };
    const [, , last] = runProbes(seen, [
      { at: 80_000, leases: silent, failures: dark },
      { at: 90_000, leases: silent, failures: other },
      { at: 96_000, leases: silent },
    ]);
    expect(last?.decision.counts?.expired).toBe(0);
  });

  it('end at a good list of leases even when another list fails', () => {
    const failures = { machines: failure('ServerError') };
    const [, failed, last] = runProbes(seen, [
      { at: 80_000, leases: silent, failures: { version: failure('Timeout') } },
      { at: 96_000, leases: silent, failures },
      { at: 125_999, leases: silent },
    ]);
    expect(failed?.decision.memory).not.toHaveProperty('unreachable');
    expect(last?.decision.counts?.expired).toBe(0);
  });

  it('do not start if only nodes or machines cannot be listed', () => {
    const failures = { nodes: failure('ConnectionError') };
    const [, last] = runProbes(seen, [
      { at: 80_000, leases: silent, failures },
      { at: 100_000, leases: silent },
    ]);
    expect(last?.decision.verdict.kind).toBe('unhealthy');
  });
});

describe('an observation without machines', () => {
  const failures = { machines: failure('ServerError') };

  it('is repeated soon in a possible outage, with growing pauses', () => {
    const ats = [100_000, 101_000, 103_000, 107_000, 115_000];
    const runs = runProbes(seen, [
      ...ats.map((at) => ({ at, leases: silent, failures })),
      { at: 125_000, leases: silent },
      { at: 136_000, leases: silent, failures },
    ]);
    const pauses = runs.map(({ decision }, index) => decision.nextRunAt - ([...ats, 125_000, 136_000][index] ?? 0));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 1_000]);
  });

  it('is repeated after the time that the seed requests, at the next tick at the latest', () => {
    for (const [retryAfterMs, pauseMs] of [
      [3_000, 3_000],
      [60_000, 10_000],
    ] as const) {
      const { decision } = failAt('machines', 'TooManyRequests', {
        failures: { machines: failure('TooManyRequests', retryAfterMs) },
      });
      expect(decision.nextRunAt - 100_000).toBe(pauseMs);
    }
  });

  it('is repeated at the next tick if the leases cannot reach the threshold', () => {
    const renewed = leasesOf([95_000, 96_000, 97_000]);
    const { decision } = runProbe(seen, { at: 100_000, leases: renewed, dependents: disturbed, failures });
    expect(decision).toMatchObject({ verdict: { kind: 'failed' }, nextRunAt: 110_000 });
  });
});

describe('an observation without nodes or machines', () => {
  it('is forgotten: leases seen for the first time still need a confirmation', () => {
    const runs = runProbes(emptyProbeMemory, [
      { at: 100_000, leases: silent, failures: { nodes: failure('Timeout') } },
      { at: 110_000, leases: silent, failures: { machines: failure('ServerError') } },
      { at: 120_000, leases: silent },
      { at: 122_000, leases: silent },
    ]);
    const kinds = runs.map(({ decision }) => decision.verdict.kind);
    expect(kinds).toEqual(['failed', 'failed', 'confirming', 'unhealthy']);
  });

  it('keeps the leases that need a confirmation', () => {
    const runs = runProbes(emptyProbeMemory, [
      { at: 100_000, leases: silent, dependents: disturbed },
      { at: 102_000, leases: silent, failures: { machines: failure('ServerError') } },
    ]);
    expect(runs[1]?.decision.memory.unconfirmedLeases.size).toBe(3);
  });
});
