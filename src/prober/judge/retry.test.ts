import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorCode, KubeconfigError } from '../../kubernetes/api/errors.ts';
import { type ProbeRun, type ReadName, defaultSettings, leasesOf, runProbe } from '../testing/probe-run.ts';
import { type ProbeMemory, emptyProbeMemory } from './judgement.ts';

const failure = (code: ApiErrorCode, retryAfterMs?: number): ApiError =>
  new ApiError({ code, message: `it broke: ${code}`, retryAfterMs });

/** Leases of a shoot that was healthy at 60 s; none has been renewed since 50 s. */
const silent = leasesOf([50_000, 50_000, 50_000]);
const seen: ProbeMemory = runProbe(emptyProbeMemory, { at: 60_000, leases: silent }).decision.memory;

const failAt = (at: number, read: ReadName, error: ApiError | KubeconfigError, rest: Partial<ProbeRun> = {}) =>
  runProbe(seen, { at, startedAt: at - 5_000, leases: silent, failures: { [read]: error }, ...rest }).decision;

const failures = {
  version: 'api_server_unreachable',
  leases: 'lease_list_failed',
  nodes: 'node_list_failed',
  machines: 'machine_list_failed',
} as const;

describe.each(Object.entries(failures) as [ReadName, string][])('a failure of %s', (read, name) => {
  it.each(['ConnectionError', 'Timeout', 'ServerError', 'MalformedResponse', 'Forbidden', 'NotFound'] as const)(
    '(%s) ends the run without scaling, under a name of its own',
    (code) => {
      const decision = failAt(100_000, read, failure(code));
      expect(decision.verdict).toMatchObject({ kind: 'failed', failure: name, error: { code } });
      expect(decision.reason).toBe(`it broke: ${code}`);
      expect(decision.counts).toBeUndefined();
    },
  );

  it('is repeated once leases are older than half of the limit, every 2 s, but not after the next tick', () => {
    const nextAfter = (at: number, probeIntervalMs = 30_000): number => {
      const settings = { ...defaultSettings, probeIntervalMs };
      return failAt(at, read, failure('ServerError'), { settings }).nextRunAt;
    };
    expect([61_000, 63_001, 65_000, 200_000].map((at) => nextAfter(at))).toEqual([65_000, 65_001, 67_000, 202_000]);
    expect([nextAfter(61_000, 3_000), nextAfter(200_000, 1_000)]).toEqual([64_000, 201_000]);
  });
});

it.each(['version', 'leases'] as const)(
  'a failure of %s before any list is repeated after 2 s: leases may be old',
  (read) => {
    const failed = { at: 100_000, leases: silent, failures: { [read]: failure('ConnectionError') } };
    expect(runProbe(emptyProbeMemory, failed).decision.nextRunAt).toBe(102_000);
  },
);

it('a kubeconfig that cannot be used ends the run', () => {
  const error = new KubeconfigError('users[0].user.exec', 'is not allowed');
  expect(failAt(100_000, 'version', error).verdict).toEqual({ kind: 'failed', failure: 'kubeconfig_unusable', error });
});

describe('a 429 of the shoot', () => {
  it.each([
    [undefined, 10_000],
    [0, 10_000],
    [999, 10_000],
    [1_000, 1_000],
    [3_000, 3_000],
    [10_000, 10_000],
    [10_001, 10_000],
    [60_000, 10_000],
    [1e12, 10_000],
  ])('with Retry-After of %s ms is waited for %i ms, whatever the interval', (retryAfterMs, waitMs) => {
    for (const probeIntervalMs of [4_000, 30_000]) {
      const settings = { ...defaultSettings, probeIntervalMs };
      for (const read of ['version', 'leases', 'nodes'] as const) {
        const decision = failAt(100_000, read, failure('TooManyRequests', retryAfterMs), { settings });
        expect(decision.verdict).toMatchObject({ kind: 'failed', failure: 'throttled' });
        expect(decision.nextRunAt).toBe(100_000 + waitMs);
      }
    }
  });

  it('is none of the seed: the list of machines is tried again soon', () => {
    const decision = failAt(100_000, 'machines', failure('TooManyRequests', 60_000));
    expect(decision).toMatchObject({ verdict: { failure: 'machine_list_failed' }, nextRunAt: 102_000 });
  });
});
