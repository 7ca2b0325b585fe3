import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, KubeconfigError, type OutsidePathSettings } from '../../domain/index.ts';
import {
  type OutsidePath,
  type TryResult,
  type TryWish,
  nextTryOf,
  resultOfError,
  takeTry,
  untriedPath,
  viewPath,
} from './outside-path.ts';

const settings: OutsidePathSettings = {
  kubeConfigSecretName: 'outside',
  timeoutMs: 5_000,
  failureThreshold: 3,
  successThreshold: 1,
  mode: 'trigger',
};
const intervalMs = 10_000;
const limitMs = 30_000;

const answered: TryResult = { kind: 'answered' };
const failed: TryResult = { kind: 'failed', problem: 'no answer' };
const unusable: TryResult = { kind: 'unusable', problem: 'no such Secret' };
const results: Readonly<Record<string, TryResult>> = { a: answered, f: failed, u: unusable };

interface Tries {
  /** `a`nswered, `f`ailed, `u`nusable; one a second from 0, each of which takes 100 ms. */
  readonly tries: string;
  readonly given?: Partial<OutsidePathSettings>;
  readonly insideAnsweredAt?: number;
}

const after = ({ tries, given = {}, insideAnsweredAt }: Tries): OutsidePath =>
  Array.from(tries).reduce((path, letter, index) => {
    const startedAt = index * 1_000;
    const known = insideAnsweredAt !== undefined && insideAnsweredAt <= startedAt ? { insideAnsweredAt } : {};
    const ended = { startedAt, endedAt: startedAt + 100, result: results[letter]!, intervalMs, ...known };
    return takeTry(path, ended, { ...settings, ...given });
  }, untriedPath(0));

describe('an outside path', () => {
  it.each([
    ['', {}, 'unknown'],
    ['a', {}, 'whole'],
    ['f', {}, 'unknown'],
    ['ff', {}, 'unknown'],
    ['fff', {}, 'broken'],
    ['ffaff', {}, 'whole'],
    ['ffafff', {}, 'broken'],
    ['aff', {}, 'whole'],
    ['afff', {}, 'broken'],
    ['fffa', {}, 'whole'],
    ['f', { failureThreshold: 1 }, 'broken'],
    ['ffff', { failureThreshold: 5 }, 'unknown'],
    ['a', { successThreshold: 2 }, 'unknown'],
    ['aa', { successThreshold: 2 }, 'whole'],
    ['afa', { successThreshold: 2 }, 'unknown'],
    ['fffa', { successThreshold: 2 }, 'broken'],
    ['fffafaf', { successThreshold: 2 }, 'broken'],
    ['fffaa', { successThreshold: 2 }, 'whole'],
    ['au', {}, 'unknown'],
    ['fffu', {}, 'unknown'],
    ['ffuf', {}, 'unknown'],
    ['ffufff', {}, 'broken'],
    ['aua', { successThreshold: 2 }, 'unknown'],
  ] as const)('is after the tries «%s» with %o: %s', (tries, given, state) => {
    expect(after({ tries, given }).state).toBe(state);
  });

  it('says why', () => {
    expect(after({ tries: 'fff' }).reason).toBe('no answer');
    expect(after({ tries: 'au' }).reason).toBe('no such Secret');
    expect(after({ tries: 'fa' }).reason).toBe('the API server answers');
  });

  it('is what the last tries in a row make of it, whatever came before', () => {
    const letters = fc.array(fc.constantFrom('a', 'f', 'f', 'u'), { maxLength: 30 });
    const thresholds = fc.record({
      failureThreshold: fc.integer({ min: 1, max: 5 }),
      successThreshold: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(letters, thresholds, (all, given) => {
        const tries = all.join('');
        // The latest row that was long enough decides, unless a try since then could not be made.
        const decided = [...tries.matchAll(/a+|f+|u/g)].findLast(([row]) =>
          row.startsWith('a')
            ? row.length >= given.successThreshold
            : row === 'u' || row.length >= given.failureThreshold,
        );
        const states: Readonly<Record<string, string>> = { a: 'whole', f: 'broken', u: 'unknown' };
        expect(after({ tries, given }).state).toBe(states[decided?.[0].charAt(0) ?? 'u']);
      }),
    );
  });
});

describe('what a failed GET /version says', () => {
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
    ['a page of something else', status('MalformedResponse'), 'failed'],
    ['a 404', status('NotFound'), 'failed'],
    ['a redirect', status('Rejected'), 'failed'],
    ['a 401', status('Unauthorized'), 'answered'],
    ['a 403', status('Forbidden'), 'answered'],
    ['a 429', status('TooManyRequests'), 'answered'],
    ['a name that DNS does not know', fault('ENOTFOUND'), 'unusable'],
    ['a proxy that refuses', fault('EPROXY503'), 'unusable'],
    ['a certificate that is not trusted', fault('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'unusable'],
    ['no file descriptors', fault('EMFILE'), 'unusable'],
    ['a broken kubeconfig', new KubeconfigError('clusters', 'broken'), 'unusable'],
  ])('(%s, %#) is %s', (_, error, kind) => {
    expect(resultOfError(error).kind).toBe(kind);
  });

  it.each([
    [undefined, 10_000],
    [3_000, 10_000],
    [60_000, 60_000],
    [86_400_000, 600_000],
  ])('with a Retry-After of %s leaves it alone for %i ms', (retryAfterMs, backOffMs) => {
    const result = resultOfError(status('TooManyRequests', retryAfterMs));
    const path = takeTry(untriedPath(0), { startedAt: 0, endedAt: 100, result, intervalMs: 1_000 }, settings);
    expect(path.notBefore).toBe(100 + backOffMs);
    const wish = { mode: 'trigger', timeoutMs: 5_000, limitMs, nextRunAt: 3_000 } as const;
    expect(nextTryOf(path, wish)).toBe(100 + backOffMs);
  });
});

describe('the next try', () => {
  const observe: TryWish = { mode: 'observe', timeoutMs: 5_000, limitMs };
  const tryAt = (tookMs: number, tries: string): OutsidePath => {
    const before = after({ tries: tries.slice(0, -1) });
    const startedAt = 100_000;
    const result = results[tries.slice(-1)]!;
    return takeTry(before, { startedAt, endedAt: startedAt + tookMs, result, intervalMs }, settings);
  };

  it.each([
    ['after an answer', 'a', 100, 110_100],
    ['after a kubeconfig that cannot be used', 'u', 0, 110_000],
    ['a second after the begin of a failure', 'af', 10, 101_000],
    ['at once after a failure that took longer', 'af', 5_000, 105_000],
    ['a second after the next failure', 'aff', 10, 101_000],
    ['at the usual time when it is broken', 'afff', 10, 110_010],
    ['and when it stays broken', 'affff', 5_000, 115_000],
  ])('is %s', (_, tries, tookMs, at) => {
    expect(nextTryOf(tryAt(tookMs, tries), observe)).toBe(at);
  });

  it.each([
    ['confirm', 110_000, 110_100],
    ['confirm', 112_000, 110_100],
    // An answer that would be too old by then is asked for again in time.
    ['confirm', 130_000, 110_100],
    ['observe', 113_000, 110_100],
    ['confirm', 113_000, 107_000],
    ['trigger', 113_000, 107_000],
  ] as const)('in mode %s with a look at %i is at %i', (mode, nextRunAt, at) => {
    expect(nextTryOf(tryAt(100, 'a'), { ...observe, mode, nextRunAt })).toBe(at);
  });

  it('is at once where the look has come nearer than a try takes', () => {
    const path: OutsidePath = { ...tryAt(100, 'a'), nextTryAt: 130_000 };
    expect(nextTryOf(path, { ...observe, mode: 'confirm', nextRunAt: 114_000 })).toBe(108_000);
    expect(nextTryOf({ ...path, triedAt: 101_500 }, { ...observe, mode: 'confirm', nextRunAt: 113_600 })).toBe(107_600);
  });

  it('comes at least a second after the begin of the last one, whatever is wished for', () => {
    const time = fc.integer({ min: 0, max: 300_000 });
    const letters = fc.array(fc.constantFrom('a', 'f', 'u'), { maxLength: 8 });
    fc.assert(
      fc.property(
        letters,
        time,
        time,
        fc.constantFrom('observe', 'confirm', 'trigger'),
        (all, nextRunAt, insideAnsweredAt, mode) => {
          const path = after({ tries: all.join('') });
          const at = nextTryOf(path, { mode, timeoutMs: 5_000, limitMs, nextRunAt, insideAnsweredAt });
          if (all.length > 0) expect(at).toBeGreaterThanOrEqual(path.triedAt + 1_000);
          expect(at).toBeLessThanOrEqual(Math.max(path.nextTryAt, path.triedAt + 1_000));
        },
      ),
    );
  });
});

describe('a broken path', () => {
  const trigger = { mode: 'trigger', limitMs, now: 10_000 } as const;

  it('counts once a try has failed that began after an answer inside', () => {
    const broken = after({ tries: 'afff' });
    expect(viewPath(broken, trigger)).toEqual({ mode: 'trigger', state: 'unknown' });
    // An answer of before the first failure proves nothing, one in between does.
    expect(viewPath(after({ tries: 'afff', insideAnsweredAt: 500 }), trigger).state).toBe('unknown');
    expect(viewPath(after({ tries: 'afff', insideAnsweredAt: 1_500 }), trigger)).toEqual({
      mode: 'trigger',
      state: 'broken',
      since: 3_100,
    });
    expect(viewPath(after({ tries: 'affff', insideAnsweredAt: 3_500 }), trigger)).toMatchObject({ since: 4_100 });
  });

  it('is tried at once after an answer inside, where only that is missing', () => {
    const broken = after({ tries: 'afff' });
    const wish = { mode: 'trigger', timeoutMs: 5_000, limitMs } as const;
    expect(nextTryOf(broken, { ...wish, insideAnsweredAt: 3_050 })).toBe(4_000);
    expect(nextTryOf(broken, { ...wish, insideAnsweredAt: 900 })).toBe(13_100);
    expect(nextTryOf(broken, { ...wish, mode: 'confirm', insideAnsweredAt: 3_050 })).toBe(13_100);
    const proven = after({ tries: 'affff', insideAnsweredAt: 3_500 });
    expect(nextTryOf(proven, { ...wish, insideAnsweredAt: 3_500 })).toBe(14_100);
  });

  it('does not count any more after one answer, though it is not whole yet', () => {
    const path = after({ tries: 'afffa', given: { successThreshold: 2 }, insideAnsweredAt: 1_500 });
    expect(path.state).toBe('broken');
    expect(viewPath(path, trigger).state).toBe('unknown');
  });
});

describe('a whole path', () => {
  it.each([
    ['a', 15_000, 'whole'],
    ['a', 15_001, 'unknown'],
    ['af', 2_000, 'unknown'],
    ['afa', 17_000, 'whole'],
    ['', 0, 'unknown'],
  ] as const)('after «%s» counts at %i as %s', (tries, now, state) => {
    expect(viewPath(after({ tries }), { mode: 'confirm', limitMs, now }).state).toBe(state);
  });
});
