import { describe, expect, it } from 'vitest';
import { ApiError, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { ExternalProbeSettings } from '../config/settings.ts';
import {
  type AttemptResult,
  type ExternalProbeHistory,
  enterAttempt,
  resultOfError,
  untilNextAttempt,
  untriedExternalProbe,
} from './external-probe.ts';

const settings: ExternalProbeSettings = {
  kubeConfigSecretName: 'outside',
  timeoutMs: 5_000,
  failureThreshold: 3,
  successThreshold: 1,
  mode: 'trigger',
};

const answered: AttemptResult = { kind: 'answered' };
const failed: AttemptResult = { kind: 'failed', problem: 'no answer' };
const unusable: AttemptResult = { kind: 'unusable', problem: 'no such Secret' };
const results: Readonly<Record<string, AttemptResult>> = { a: answered, f: failed, u: unusable };

/** Results: `a`nswered, `f`ailed, `u`nusable. */
const after = ({ attempts, given = {} }: { attempts: string; given?: Partial<ExternalProbeSettings> }) =>
  Array.from(attempts).reduce<ExternalProbeHistory>(
    (history, letter) => enterAttempt(history, results[letter]!, { ...settings, ...given }),
    untriedExternalProbe,
  );

describe('an external probe', () => {
  it.each([
    ['', {}, 'unknown'],
    ['a', {}, 'reachable'],
    ['f', {}, 'unknown'],
    ['fff', {}, 'unreachable'],
    ['ffaff', {}, 'reachable'],
    ['afff', {}, 'unreachable'],
    ['fffa', {}, 'reachable'],
    ['ffff', { failureThreshold: 5 }, 'unknown'],
    ['a', { successThreshold: 2 }, 'unknown'],
    ['aa', { successThreshold: 2 }, 'reachable'],
    ['afa', { successThreshold: 2 }, 'unknown'],
    ['fffa', { successThreshold: 2 }, 'unreachable'],
    ['fffaa', { successThreshold: 2 }, 'reachable'],
    ['au', {}, 'unknown'],
    ['fffu', {}, 'unknown'],
    ['ffufff', {}, 'unreachable'],
    ['aua', { successThreshold: 2 }, 'unknown'],
  ] as const)('is after the attempts «%s» with %o: %s', (attempts, given, state) => {
    expect(after({ attempts, given }).state).toBe(state);
  });

  it('has a reason for its state', () => {
    expect(after({ attempts: 'fff' }).reason).toBe('no answer');
    expect(after({ attempts: 'au' }).reason).toBe('no such Secret');
    expect(after({ attempts: 'fa' }).reason).toBe('the API server answers');
  });

  it.each([
    ['f', { tookMs: 100 }, 900],
    ['ff', { tookMs: 1_500 }, 0],
    ['fff', { tookMs: 100 }, 10_000],
    ['a', { tookMs: 100 }, 10_000],
    ['af', { tookMs: 0 }, 1_000],
    ['u', { tookMs: 100 }, 10_000],
  ])('is tried again after the attempts «%s» of %o in %i ms', (attempts, { tookMs }, ms) => {
    const last = results[attempts.at(-1)!]!;
    expect(untilNextAttempt(after({ attempts }), last, { tookMs, intervalMs: 10_000 })).toBe(ms);
  });

  it('waits as long as the API server asks for, ten seconds at most', () => {
    const next = (retryAfterMs?: number): number => {
      const result = resultOfError(new ApiError({ code: 'TooManyRequests', message: 'x', retryAfterMs }));
      return untilNextAttempt(after({ attempts: 'a' }), result, { tookMs: 0, intervalMs: 4_000 });
    };
    expect([next(5_000), next(60_000), next()]).toEqual([5_000, 10_000, 10_000]);
  });

  it.each([
    ['Unauthorized', 'answered'],
    ['Forbidden', 'answered'],
    ['ServerError', 'failed'],
    ['NotFound', 'failed'],
    ['Timeout', 'failed'],
  ] as const)('that fails with %s is %s', (code, kind) => {
    expect(resultOfError(new ApiError({ code, message: 'x' })).kind).toBe(kind);
  });

  it('proves nothing if the fault is on our side', () => {
    const ours = new ApiError({
      code: 'ConnectionError',
      message: 'x',
      cause: { code: 'EMFILE', phase: 'connecting' },
    });
    expect(resultOfError(ours).kind).toBe('unusable');
    expect(resultOfError(new KubeconfigError('x', 'y')).kind).toBe('unusable');
  });
});
