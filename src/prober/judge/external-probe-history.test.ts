import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, KubeconfigError } from '../../kubernetes/api/errors.ts';
import type { ExternalProbeSettings } from '../settings.ts';
import {
  type AttemptInput,
  type AttemptResult,
  type ExternalProbeHistory,
  enterAttempt,
  nextAttemptOf,
  resultOfError,
  untriedExternalProbe,
  viewExternalProbe,
} from './external-probe-history.ts';

const settings: ExternalProbeSettings = {
  kubeConfigSecretName: 'outside',
  timeoutMs: 5_000,
  failureThreshold: 3,
  successThreshold: 1,
  mode: 'trigger',
};
const intervalMs = 10_000;
const expiryAgeMs = 30_000;

const answered: AttemptResult = { kind: 'answered' };
const failed: AttemptResult = { kind: 'failed', problem: 'no answer' };
const unusable: AttemptResult = { kind: 'unusable', problem: 'no such Secret' };
const results: Readonly<Record<string, AttemptResult>> = { a: answered, f: failed, u: unusable };

interface Tries {
  /** Results: `a`nswered, `f`ailed, `u`nusable. The attempts start every second from 0 and take 100 ms each. */
  readonly attempts: string;
  readonly given?: Partial<ExternalProbeSettings>;
  readonly probeAnsweredAt?: number;
}

const after = ({ attempts, given = {}, probeAnsweredAt }: Tries): ExternalProbeHistory =>
  Array.from(attempts).reduce((history, letter, index) => {
    const startedAt = index * 1_000;
    const known = probeAnsweredAt !== undefined && probeAnsweredAt <= startedAt ? { probeAnsweredAt } : {};
    const ended = { startedAt, endedAt: startedAt + 100, result: results[letter]!, intervalMs, ...known };
    return enterAttempt(history, ended, { ...settings, ...given });
  }, untriedExternalProbe(0));

describe('an external probe', () => {
  it.each([
    ['', {}, 'unknown'],
    ['a', {}, 'reachable'],
    ['f', {}, 'unknown'],
    ['ff', {}, 'unknown'],
    ['fff', {}, 'unreachable'],
    ['ffaff', {}, 'reachable'],
    ['ffafff', {}, 'unreachable'],
    ['aff', {}, 'reachable'],
    ['afff', {}, 'unreachable'],
    ['fffa', {}, 'reachable'],
    ['f', { failureThreshold: 1 }, 'unreachable'],
    ['ffff', { failureThreshold: 5 }, 'unknown'],
    ['a', { successThreshold: 2 }, 'unknown'],
    ['aa', { successThreshold: 2 }, 'reachable'],
    ['afa', { successThreshold: 2 }, 'unknown'],
    ['fffa', { successThreshold: 2 }, 'unreachable'],
    ['fffafaf', { successThreshold: 2 }, 'unreachable'],
    ['fffaa', { successThreshold: 2 }, 'reachable'],
    ['au', {}, 'unknown'],
    ['fffu', {}, 'unknown'],
    ['ffuf', {}, 'unknown'],
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

  it('depends only on the latest consecutive attempts that were enough', () => {
    const letters = fc.array(fc.constantFrom('a', 'f', 'f', 'u'), { maxLength: 30 });
    const thresholds = fc.record({
      failureThreshold: fc.integer({ min: 1, max: 5 }),
      successThreshold: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(letters, thresholds, (all, given) => {
        const attempts = all.join('');
        // The latest series that was long enough decides, unless a later attempt was unusable.
        const decided = [...attempts.matchAll(/a+|f+|u/g)].findLast(([row]) =>
          row.startsWith('a')
            ? row.length >= given.successThreshold
            : row === 'u' || row.length >= given.failureThreshold,
        );
        const states: Readonly<Record<string, string>> = { a: 'reachable', f: 'unreachable', u: 'unknown' };
        expect(after({ attempts, given }).state).toBe(states[decided?.[0].charAt(0) ?? 'u']);
      }),
    );
  });
});

describe('a failed GET /version', () => {
  const status = (code: ApiError['code'], retryAfterMs?: number) =>
    new ApiError({ code, message: code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  const fault = (code: string) => new ApiError({ code: 'ConnectionError', message: code, cause: { code } });

  it.each([
    ['a refused connection', fault('ECONNREFUSED'), 'failed'],
    ['a reset connection', fault('ECONNRESET'), 'failed'],
    ['a handshake that fails', fault('EPROTO'), 'failed'],
    ['no route', fault('EHOSTUNREACH'), 'failed'],
    ['a time-out', status('Timeout'), 'failed'],
    ['a 5xx', status('ServerError'), 'failed'],
    ['a malformed response', status('MalformedResponse'), 'failed'],
    ['a 404', status('NotFound'), 'failed'],
    ['a redirect', status('Rejected'), 'failed'],
    ['a 401', status('Unauthorized'), 'answered'],
    ['a 403', status('Forbidden'), 'answered'],
    ['a 429', status('TooManyRequests'), 'answered'],
    ['an unknown DNS name', fault('ENOTFOUND'), 'unusable'],
    ['a proxy that refuses', fault('EPROXY503'), 'unusable'],
    ['a certificate that is not trusted', fault('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'unusable'],
    ['no file descriptors', fault('EMFILE'), 'unusable'],
    ['a broken kubeconfig', new KubeconfigError('clusters', 'unreachable'), 'unusable'],
  ])('(%s, %#) counts as %s', (_, error, kind) => {
    expect(resultOfError(error).kind).toBe(kind);
  });

  it.each([
    [undefined, 10_000],
    [3_000, 10_000],
    [60_000, 60_000],
    [86_400_000, 600_000],
  ])('with a Retry-After of %s stops the attempts for %i ms', (retryAfterMs, backOffMs) => {
    const result = resultOfError(status('TooManyRequests', retryAfterMs));
    const history = enterAttempt(
      untriedExternalProbe(0),
      { startedAt: 0, endedAt: 100, result, intervalMs: 1_000 },
      settings,
    );
    expect(history.notBefore).toBe(100 + backOffMs);
    const input = { mode: 'trigger', timeoutMs: 5_000, expiryAgeMs, nextRunAt: 3_000 } as const;
    expect(nextAttemptOf(history, input)).toBe(100 + backOffMs);
  });
});

describe('the next attempt', () => {
  const observe: AttemptInput = { mode: 'observe', timeoutMs: 5_000, expiryAgeMs };
  const tryAt = (tookMs: number, attempts: string): ExternalProbeHistory => {
    const before = after({ attempts: attempts.slice(0, -1) });
    const startedAt = 100_000;
    const result = results[attempts.slice(-1)]!;
    return enterAttempt(before, { startedAt, endedAt: startedAt + tookMs, result, intervalMs }, settings);
  };

  it.each([
    ['an interval after a response', 'a', 100, 110_100],
    ['an interval after an unusable kubeconfig', 'u', 0, 110_000],
    ['a second after the start of a failed attempt', 'af', 10, 101_000],
    ['at once after a failed attempt that took longer', 'af', 5_000, 105_000],
    ['a second after the start of the next failed attempt', 'aff', 10, 101_000],
    ['an interval after the failure that makes the address unreachable', 'afff', 10, 110_010],
    ['an interval after each later failure', 'affff', 5_000, 115_000],
  ])('comes %s', (_, attempts, tookMs, at) => {
    expect(nextAttemptOf(tryAt(tookMs, attempts), observe)).toBe(at);
  });

  it.each([
    ['confirm', 110_000, 110_100],
    ['confirm', 112_000, 110_100],
    // A response that would be too old by then is requested again in time.
    ['confirm', 130_000, 110_100],
    ['observe', 113_000, 110_100],
    ['confirm', 113_000, 107_000],
    ['trigger', 113_000, 107_000],
  ] as const)('in mode %s with a list of leases at %i comes at %i', (mode, nextRunAt, at) => {
    expect(nextAttemptOf(tryAt(100, 'a'), { ...observe, mode, nextRunAt })).toBe(at);
  });

  it('comes at once if the next list of leases is nearer than an attempt takes', () => {
    const history: ExternalProbeHistory = { ...tryAt(100, 'a'), nextAttemptAt: 130_000 };
    expect(nextAttemptOf(history, { ...observe, mode: 'confirm', nextRunAt: 114_000 })).toBe(108_000);
    expect(
      nextAttemptOf({ ...history, attemptedAt: 101_500 }, { ...observe, mode: 'confirm', nextRunAt: 113_600 }),
    ).toBe(107_600);
  });

  it('comes at least a second after the start of the last one, and not after its scheduled time', () => {
    const time = fc.integer({ min: 0, max: 300_000 });
    const letters = fc.array(fc.constantFrom('a', 'f', 'u'), { maxLength: 8 });
    fc.assert(
      fc.property(
        letters,
        time,
        time,
        fc.constantFrom('observe', 'confirm', 'trigger'),
        (all, nextRunAt, probeAnsweredAt, mode) => {
          const history = after({ attempts: all.join('') });
          const at = nextAttemptOf(history, { mode, timeoutMs: 5_000, expiryAgeMs, nextRunAt, probeAnsweredAt });
          if (all.length > 0) expect(at).toBeGreaterThanOrEqual(history.attemptedAt + 1_000);
          expect(at).toBeLessThanOrEqual(Math.max(history.nextAttemptAt, history.attemptedAt + 1_000));
        },
      ),
    );
  });
});

describe('an unreachable address', () => {
  const trigger = { mode: 'trigger', expiryAgeMs, now: 10_000 } as const;

  it('counts after the failure of an attempt that began after a response inside the seed', () => {
    const broken = after({ attempts: 'afff' });
    expect(viewExternalProbe(broken, trigger)).toEqual({ mode: 'trigger', state: 'unknown' });
    // A response before the first failure proves nothing, a later one does.
    expect(viewExternalProbe(after({ attempts: 'afff', probeAnsweredAt: 500 }), trigger).state).toBe('unknown');
    expect(viewExternalProbe(after({ attempts: 'afff', probeAnsweredAt: 1_500 }), trigger)).toEqual({
      mode: 'trigger',
      state: 'unreachable',
      since: 3_100,
    });
    expect(viewExternalProbe(after({ attempts: 'affff', probeAnsweredAt: 3_500 }), trigger)).toMatchObject({
      since: 4_100,
    });
  });

  it('is tried at once after a response inside the seed, if that is the only missing proof', () => {
    const broken = after({ attempts: 'afff' });
    const input = { mode: 'trigger', timeoutMs: 5_000, expiryAgeMs } as const;
    expect(nextAttemptOf(broken, { ...input, probeAnsweredAt: 3_050 })).toBe(4_000);
    expect(nextAttemptOf(broken, { ...input, probeAnsweredAt: 900 })).toBe(13_100);
    expect(nextAttemptOf(broken, { ...input, mode: 'confirm', probeAnsweredAt: 3_050 })).toBe(13_100);
    const proven = after({ attempts: 'affff', probeAnsweredAt: 3_500 });
    expect(nextAttemptOf(proven, { ...input, probeAnsweredAt: 3_500 })).toBe(14_100);
  });

  it('no longer counts after one response, even before it counts as reachable', () => {
    const history = after({ attempts: 'afffa', given: { successThreshold: 2 }, probeAnsweredAt: 1_500 });
    expect(history.state).toBe('unreachable');
    expect(viewExternalProbe(history, trigger).state).toBe('unknown');
  });
});

describe('a reachable address', () => {
  it.each([
    ['a', 15_000, 'reachable'],
    ['a', 15_001, 'unknown'],
    ['af', 2_000, 'unknown'],
    ['afa', 17_000, 'reachable'],
    ['', 0, 'unknown'],
  ] as const)('after «%s» counts at %i as %s', (attempts, now, state) => {
    expect(viewExternalProbe(after({ attempts }), { mode: 'confirm', expiryAgeMs, now }).state).toBe(state);
  });
});
