import { describe, expect, it } from 'vitest';
import type { ApiErrorCode } from '../../kubernetes/api/errors.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { heldAnnotation } from '../../annotations/held.ts';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import {
  type RequestFate,
  dependent,
  downVerdict,
  once,
  patchAt,
  readAt,
  requestsIn,
  upHeldVerdict,
  upVerdict,
} from '../testing/cases.ts';
import { fates, isHeld, kcm, main, run } from '../testing/play-scaling.ts';
import { type HarnessOptions, SeedHarness } from '../testing/seed-harness.ts';
import { deployment, objectOf } from '../testing/seed-model.ts';

describe('attempts', () => {
  const up: Omit<HarnessOptions, 'fateOf'> = {
    resources: [dependent(kcm)],
    objects: [objectOf(kcm, isHeld)],
    verdictAt: once(upVerdict),
  };
  const again: readonly ApiErrorCode[] = ['ServerError', 'ConnectionError', 'Timeout', 'MalformedResponse', 'Conflict'];
  const never: readonly ApiErrorCode[] = [
    'Forbidden',
    'Unauthorized',
    'MethodNotAllowed',
    'Invalid',
    'BadRequest',
    'Rejected',
  ];

  it.each(again)('%s: reads from the API server 100 ms later, and retries', (error) => {
    const { sent, ends, object } = run({ ...up, fateOf: fates({ error }) });
    expect(sent).toEqual([patchAt(100, 'kcm', 3), readAt(220, 'kcm'), patchAt(240, 'kcm', 3)]);
    expect(ends).toEqual(['completed']);
    expect(object(kcm)).toEqual({ replicas: 3, annotations: {} });
  });

  it.each(again)('%s: three attempts in all', (error) => {
    const writes = run({
      ...up,
      fateOf: (_, { action }) => ({ latencyMs: 20, ...(action.kind === 'write' ? { error } : {}) }),
    });
    expect(writes.sent.filter(({ replicas: count }) => count === 3)).toHaveLength(3);
    expect(writes.ends).toEqual(['failed']);
    const reads = run({ ...up, synced: false, fateOf: () => ({ latencyMs: 20, error }) });
    expect(reads.sent).toEqual([readAt(100, 'kcm'), readAt(220, 'kcm'), readAt(340, 'kcm')]);
    expect(reads.ends).toEqual(['failed']);
  });

  it.each(never)('%s: no second attempt', (error) => {
    const { sent, ends } = run({ ...up, fateOf: () => ({ latencyMs: 20, error }) });
    expect(sent).toEqual([patchAt(100, 'kcm', 3)]);
    expect(ends).toEqual(['failed']);
  });

  it.each([
    { retryAfterMs: undefined, at: 220 },
    { retryAfterMs: 0, at: 220 },
    { retryAfterMs: 50, at: 220 },
    { retryAfterMs: 2_000, at: 2_120 },
  ])('429 waits for its Retry-After of $retryAfterMs ms, and needs no read', ({ retryAfterMs, at }) => {
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const { sent } = run({ ...up, fateOf: fates({ error: 'TooManyRequests', ...wait }) });
    expect(sent).toEqual([patchAt(100, 'kcm', 3), patchAt(at, 'kcm', 3)]);
  });

  it('NotFound of a write: the resource was deleted', () => {
    for (const optional of [true, false]) {
      const resources = [dependent(kcm, { optional })];
      const { sent, ends } = run({ ...up, resources, fateOf: fates({ error: 'NotFound' }) });
      expect(sent).toHaveLength(1);
      expect(ends).toEqual(['completed']);
    }
  });

  it('a conflict needs a read from the API server: the watch may not show the change yet', () => {
    const fateOf = fates({ interference: { annotations: { ...isHeld.annotations, other: 'x' } } });
    const { sent, object } = run({ ...up, watchLagMs: 10_000, fateOf });
    // While the watch lags, the pods are awaited by reads as well.
    expect(sent).toEqual([patchAt(100, 'kcm', 3), readAt(220, 'kcm'), patchAt(240, 'kcm', 3), readAt(1_260, 'kcm')]);
    expect(object(kcm)).toEqual({ replicas: 3, annotations: { other: 'x' } });
  });

  it('a lost response causes no second write: a read shows the current state', () => {
    const { sent, ends } = run({ ...up, fateOf: fates({ error: 'ConnectionError', landed: true }) });
    expect(sent).toEqual([patchAt(100, 'kcm', 3), readAt(220, 'kcm')]);
    expect(ends).toEqual(['completed']);
  });

  it('a lost response of a held resource: its pods are awaited nevertheless', () => {
    const resources = [dependent(kcm), dependent(deployment('mcm'), { up: { level: 1 } })];
    const objects = [objectOf(kcm, isHeld), objectOf(deployment('mcm'), isHeld)];
    const fateOf = fates({ error: 'ConnectionError', landed: true });
    const { sent } = run({ resources, objects, verdictAt: once(upHeldVerdict), fateOf, followMs: 5_000 });
    expect(sent[1]).toEqual(readAt(220, 'kcm'));
    expect(sent[2]?.at).toBeGreaterThanOrEqual(5_110);
    expect(sent[2]).toMatchObject({ name: 'mcm', kind: 'patch', replicas: 3 });
  });

  it('another writer that keeps changing the count is undone for as long as the outage lasts; a scale-up gives up', () => {
    const changing = (ref: typeof kcm, given: Pick<HarnessOptions, 'verdictAt' | 'objects'>, replicas: number) => {
      const harness = new SeedHarness({ resources: [dependent(ref)], followMs: 60_000, ...given });
      for (let at = 500; at < 40_000; at += 2_500) harness.at(at, () => harness.model.edit(refKey(ref), { replicas }));
      harness.runUntil(60_000);
      return harness;
    };
    for (const ref of [kcm, main]) {
      const down = changing(ref, { objects: [objectOf(ref, { replicas: 3 })], verdictAt: once(downVerdict) }, 5);
      const counts = requestsIn(down.log).map(({ replicas: count }) => count);
      expect(
        counts.filter((count) => count === 0),
        ref.kind,
      ).toHaveLength(16);
      const up = changing(ref, { objects: [objectOf(ref, isHeld)], verdictAt: once(upVerdict) }, 0);
      expect(
        requestsIn(up.log).filter(({ replicas: count }) => count !== undefined),
        ref.kind,
      ).toHaveLength(3);
      expect(up.ends).toMatchObject([{ end: 'failed' }]);
    }
  });
});

describe('a request that the rate limit holds back', () => {
  const up: Omit<HarnessOptions, 'fateOf'> = {
    resources: [dependent(kcm, { up: { timeoutMs: 15_000 } })],
    objects: [objectOf(kcm, isHeld)],
    verdictAt: once(upVerdict),
  };
  const rateLimited: RequestFate = { latencyMs: 0, error: 'Timeout', rateLimited: true };
  const first =
    (count: number, then: Partial<RequestFate> = {}) =>
    (index: number): RequestFate =>
      index < count ? rateLimited : { latencyMs: 20, ...then };

  it('is repeated every second without a read, because it is no failed attempt', () => {
    const { sent, ends } = run({ ...up, fateOf: first(5) });
    expect(sent).toEqual([100, 1_100, 2_100, 3_100, 4_100, 5_100].map((at) => patchAt(at, 'kcm', 3)));
    expect(ends).toEqual(['completed']);
    const reads = run({ ...up, synced: false, fateOf: first(5) });
    expect(reads.sent.slice(4, 7)).toEqual([readAt(4_100, 'kcm'), readAt(5_100, 'kcm'), patchAt(5_120, 'kcm', 3)]);
    expect(reads.ends).toEqual(['completed']);
  });

  it('has all its attempts left', () => {
    const { sent, ends } = run({ ...up, fateOf: first(5, { error: 'Conflict' }) });
    expect(sent.slice(5)).toEqual([patchAt(5_100, 'kcm', 3), readAt(5_220, 'kcm'), readAt(5_340, 'kcm')]);
    expect(ends).toEqual(['failed']);
  });

  it('fails at its timeout', () => {
    for (const [options, last] of [
      [up, patchAt(15_100, 'kcm', 3)],
      [{ ...up, synced: false }, readAt(15_100, 'kcm')],
    ] as const) {
      const { sent, end } = run({ ...options, fateOf: () => rateLimited });
      expect(sent).toHaveLength(16);
      expect(sent.at(-1)).toEqual(last);
      expect(end).toEqual({ at: 15_100, direction: 'up', end: 'failed' });
    }
  });

  it('ends at once on the opposite verdict', () => {
    const verdictAt = (now: number) => (now === 0 ? upVerdict : downVerdict);
    const { sent, harness } = run({ ...up, verdictAt, fateOf: () => rateLimited }, 60_000);
    expect(harness.ends[0]).toEqual({ at: 10_200, direction: 'up', end: 'dropped' });
    expect(sent.filter(({ replicas: count }) => count === 3).at(-1)).toEqual(patchAt(10_100, 'kcm', 3));
  });

  it('is not sent on a verdict that has become too old meanwhile', () => {
    const resources = [dependent(kcm)];
    const { sent, ends } = run({ ...up, resources, fateOf: first(25) });
    expect(sent.at(-1)).toEqual(patchAt(20_100, 'kcm', 3));
    expect(ends).toEqual([]);
  });
});

describe('a scale-down with errors', () => {
  const down: HarnessOptions = {
    resources: [dependent(kcm, { down: { timeoutMs: 15_000 } })],
    objects: [objectOf(kcm, { replicas: 3 })],
    verdictAt: () => downVerdict,
  };
  const untilIndex =
    (index: number, fate: Partial<RequestFate>) =>
    (sent: number): RequestFate => ({ latencyMs: 20, ...(sent < index ? fate : {}) });

  it('retries every second after its attempts', () => {
    const { sent, ends } = run({ ...down, fateOf: untilIndex(5, { error: 'TooManyRequests' }) }, 9_000);
    expect(sent).toEqual([100, 220, 340, 1_360, 2_380, 3_400].map((at) => patchAt(at, 'kcm', 0)));
    expect(ends).toEqual(['completed']);
  });

  it('reads after a lost response, and waits for Retry-After', () => {
    const lost = run({ ...down, fateOf: untilIndex(4, { error: 'ConnectionError' }) }, 9_000);
    expect(lost.sent.slice(3)).toEqual([readAt(1_360, 'kcm'), readAt(2_380, 'kcm'), patchAt(2_400, 'kcm', 0)]);
    const asked = run({ ...down, fateOf: untilIndex(3, { error: 'TooManyRequests', retryAfterMs: 3_000 }) }, 12_000);
    expect(asked.sent.slice(2)).toEqual([patchAt(6_140, 'kcm', 0), patchAt(9_160, 'kcm', 0)]);
  });

  it('retries until its timeout, and on a fresh verdict only', () => {
    const fateOf = untilIndex(1_000, { error: 'TooManyRequests' });
    const timedOut = run({ ...down, fateOf }, 15_900);
    expect(timedOut.end).toEqual({ at: 15_660, direction: 'down', end: 'failed' });
    const resources = [dependent(kcm, { down: { timeoutMs: 120_000 } })];
    expect(run({ ...down, resources, fateOf }, 110_000).ends).toEqual([]);
    const unsaid = run({ ...down, resources, fateOf, verdictAt: once(downVerdict) });
    expect(unsaid.end?.at).toBeGreaterThan(20_100);
    expect(unsaid.end?.at).toBeLessThan(21_500);
  });

  it('ends at once on the opposite verdict', () => {
    const verdictAt = (now: number) => (now === 0 ? downVerdict : upVerdict);
    const { sent, harness } = run({ ...down, verdictAt, fateOf: untilIndex(1_000, { error: 'TooManyRequests' }) });
    expect(harness.ends[0]).toEqual({ at: 10_200, direction: 'down', end: 'dropped' });
    expect(sent.filter(({ at, replicas: count }) => at > 10_200 && count === 0)).toEqual([]);
  });

  it('that loses races, as with a writer of status, is sent again at once', () => {
    const fateOf = (index: number, { action }: { readonly action: { readonly kind: string } }): RequestFate => ({
      latencyMs: 20,
      ...(action.kind === 'write' && index < 50 && { interference: { annotations: { other: String(index) } } }),
    });
    const { sent, ends } = run({ ...down, fateOf }, 5_000);
    expect(ends).toEqual(['completed']);
    // A write and a read for each of 25 races.
    expect(sent.at(-1)).toEqual(patchAt(100 + 25 * 40, 'kcm', 0));
  });

  it('does not delay the next level', () => {
    const resources = [dependent(deployment('mcm')), dependent(kcm, { down: { level: 1 } })];
    const objects = [objectOf(deployment('mcm'), { replicas: 1 }), objectOf(kcm, { replicas: 3 })];
    const isFirst = (key: string): boolean => key === refKey(deployment('mcm'));
    const fateOf = (_: number, { action }: { readonly action: { readonly key: string } }): RequestFate =>
      isFirst(action.key) ? { latencyMs: 20, error: 'ServerError' } : { latencyMs: 20 };
    const { sent } = run({ ...down, resources, objects, fateOf }, 3_000);
    expect(sent).toContainEqual(patchAt(360, 'kcm', 0));
  });

  it('tries what is refused again every 3 s, also after its timeout', () => {
    const { sent } = run({ ...down, fateOf: untilIndex(8, { error: 'Forbidden' }) }, 40_000);
    const gaps = sent.slice(1).map(({ at }, index) => at - sent[index]!.at);
    expect(sent).toHaveLength(9);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(3_120);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
  });
});

describe('an autoscaler in between', () => {
  it('never makes us store a wrong count', () => {
    for (const ref of [kcm, main]) {
      const resources = [dependent(ref)];
      const objects = [objectOf(ref, { replicas: 3 })];
      const fateOf = fates({ interference: { replicas: 5 } });
      const { object, ends } = run({ resources, objects, verdictAt: once(downVerdict), fateOf });
      expect(object(ref)).toEqual({
        replicas: 0,
        annotations: { [active]: '', [replicas]: '5', [heldAnnotation]: expect.any(String) as unknown },
      });
      expect(ends).toEqual(['completed']);
    }
  });

  it('between the two writes of a custom kind: the new count is stored before it is scaled', () => {
    const resources = [dependent(main)];
    const fateOf = (_: number, { action }: { action: { kind: string; write?: { kind: string } } }): RequestFate => ({
      latencyMs: 20,
      ...(action.write?.kind === 'scale' && interfered++ === 0 ? { interference: { replicas: 5 } } : {}),
    });
    let interfered = 0;
    const { object, sent } = run({
      resources,
      objects: [objectOf(main, { replicas: 3 })],
      verdictAt: once(downVerdict),
      fateOf,
    });
    expect(object(main)).toEqual({
      replicas: 0,
      annotations: { [active]: '', [replicas]: '5', [heldAnnotation]: expect.any(String) as unknown },
    });
    const writes = sent.map(({ kind }) => kind).filter((kind) => kind !== 'read');
    expect(writes).toEqual(['mark', 'scale', 'mark', 'scale']);
  });
});
