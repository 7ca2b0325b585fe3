import { describe, expect, it } from 'vitest';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  meltdownProtectionAnnotation as active,
  ignoreScalingAnnotation as ignore,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import type { ServedKind } from '../../kubernetes/cache/watch-kind.ts';
import type { DependentResource } from '../config/settings.ts';
import {
  type RequestFate,
  type LogEntry,
  dependent,
  downVerdict,
  failedVerdict,
  once,
  requestsIn,
  markAt,
  patchAt,
  readAt,
  upHeldVerdict,
  upVerdict,
} from '../testing/cases.ts';
import { type HarnessOptions, SeedHarness } from '../testing/seed-harness.ts';
import { deployment, etcd, objectOf } from '../testing/seed-model.ts';

const [a, b, c, d] = [deployment('a'), deployment('b'), deployment('c'), deployment('d')];
const isHeld = { annotations: { [active]: '', [replicas]: '3' }, replicas: 0 };
const held = (ref: typeof a) => objectOf(ref, isHeld);
const up = (ref: typeof a) => objectOf(ref, { replicas: 3 });

type Level = Partial<DependentResource['scaleUp']>;
/** Dependent resource with the same level in both directions. */
const at = (ref: typeof a, level: number, rest: Level & { readonly optional?: boolean } = {}): DependentResource => {
  const { optional = false, ...info } = rest;
  return dependent(ref, { up: { level, ...info }, down: { level, ...info }, optional });
};

const run = (options: HarnessOptions, until = 600_000) => {
  const harness = new SeedHarness(options);
  harness.runUntil(until);
  return { harness, sent: requestsIn(harness.log), ends: harness.ends };
};

/** Fates by the resource's name. */
const fateOf =
  (fates: Readonly<Partial<Record<string, Partial<RequestFate>>>>) =>
  (_: number, { action: { key } }: LogEntry): RequestFate => ({
    latencyMs: 20,
    ...fates[key.slice(key.lastIndexOf('/') + 1)],
  });

describe('levels', () => {
  const resources = [at(d, 10), at(b, 2), at(a, 0), at(c, 2)];

  it('start in ascending order in a scale-up, each when the previous one is ready; resources of one level together', () => {
    const options = { resources, objects: [a, b, c, d].map(held), verdictAt: once(upVerdict), followMs: 1_000 };
    const { sent, ends } = run(options);
    // Written after 10 ms, ready 1 s later, observed 50 ms after that.
    expect(sent).toEqual([
      patchAt(100, 'a', 3),
      patchAt(1_160, 'b', 3),
      patchAt(1_160, 'c', 3),
      patchAt(2_220, 'd', 3),
    ]);
    expect(ends).toEqual([{ at: 3_280, direction: 'up', end: 'completed' }]);
  });

  it('start in ascending order in a scale-down, each when no pods of the previous one are left', () => {
    const options = { resources, objects: [a, b, c, d].map(up), verdictAt: once(downVerdict), followMs: 500 };
    const { sent, ends } = run(options);
    expect(sent).toEqual([patchAt(100, 'a', 0), patchAt(660, 'b', 0), patchAt(660, 'c', 0), patchAt(1_220, 'd', 0)]);
    expect(ends).toEqual([{ at: 1_780, direction: 'down', end: 'completed' }]);
  });

  it('wait for all of their resources', () => {
    const options = {
      resources: [at(a, 0), at(b, 0, { initialDelayMs: 4_000 }), at(c, 1)],
      verdictAt: once(upVerdict),
    };
    const { sent } = run({ ...options, objects: [a, b, c].map(held) });
    expect(sent).toEqual([patchAt(100, 'a', 3), patchAt(4_100, 'b', 3), patchAt(5_160, 'c', 3)]);
  });

  it('without anything to do are skipped at once', () => {
    const objects = [up(a), up(b), up(c), held(d)];
    expect(run({ resources, objects, verdictAt: once(upVerdict) }).sent).toEqual([patchAt(100, 'd', 3)]);
  });

  it('leave resources without scaleDown alone', () => {
    const onlyUp = dependent(b, { down: null });
    const { sent } = run({ resources: [at(a, 1), onlyUp], objects: [up(a), up(b)], verdictAt: once(downVerdict) });
    expect(sent).toEqual([patchAt(100, 'a', 0)]);
  });
});

describe('a scale-up', () => {
  const resources = [at(a, 0), at(b, 0), at(c, 1)];
  const objects = [a, b, c].map(held);

  it('ends at an error: no later level starts, and the next run starts it again', () => {
    const attempts = (_: number, entry: LogEntry): RequestFate => {
      const isFirst = entry.at < 10_000 && entry.action.key === refKey(a);
      return { latencyMs: 20, ...(isFirst ? { error: 'Forbidden' } : {}) };
    };
    const { sent, ends } = run({ resources, objects, verdictAt: () => upVerdict, fateOf: attempts }, 20_000);
    expect(ends).toMatchObject([{ end: 'failed', at: 120 }, { end: 'completed' }]);
    expect(sent).toEqual([
      patchAt(100, 'a', 3),
      patchAt(100, 'b', 3),
      patchAt(10_200, 'a', 3),
      patchAt(11_260, 'c', 3),
    ]);
  });

  it('reads first while a watch of the seed is interrupted: it may show a readiness from before the outage', () => {
    const harness = new SeedHarness({
      resources: [at(a, 0), at(b, 1)],
      objects: [up(a), held(b)],
      verdictAt: once(upVerdict),
      watchLagMs: 600_000,
      followMs: 5_000,
      isWatchInterrupted: () => true,
    });
    // Another replica scales a down; no watch shows it.
    harness.model.edit(refKey(a), isHeld);
    harness.runUntil(60_000);
    const writes = requestsIn(harness.log).filter(({ kind }) => kind === 'patch');
    expect(writes).toMatchObject([patchAt(120, 'a', 3), { name: 'b', replicas: 3 }]);
    expect(writes[1]?.at).toBeGreaterThan(5_120);
  });

  it('skips a missing resource even if it is required', () => {
    const { sent, ends } = run({ resources, objects: [held(b), held(c)], verdictAt: once(upVerdict) });
    expect(sent).toEqual([patchAt(100, 'b', 3), patchAt(1_160, 'c', 3)]);
    expect(ends).toMatchObject([{ end: 'completed' }]);
  });

  it('skips a missing optional resource', () => {
    const optional = [at(a, 0, { optional: true }), at(b, 0), at(c, 1)];
    const { sent, ends } = run({ resources: optional, objects: [held(b), held(c)], verdictAt: once(upVerdict) });
    expect(sent).toEqual([patchAt(100, 'b', 3), patchAt(1_160, 'c', 3)]);
    expect(ends).toMatchObject([{ end: 'completed' }]);
  });

  it('sends nothing more after an error', () => {
    // Both are retried at 220 ms; b is then refused for good.
    const fates = (index: number): RequestFate => {
      if (index < 2) return { latencyMs: 20, error: 'TooManyRequests' };
      return index === 2 ? { latencyMs: 5_000 } : { latencyMs: 20, error: 'Forbidden' };
    };
    const { sent, ends } = run({ resources, objects, verdictAt: once(upVerdict), fateOf: fates });
    expect(sent).toHaveLength(4);
    expect(ends).toEqual([{ at: 240, direction: 'up', end: 'failed' }]);
  });

  it.each([
    { what: 'within two intervals', followMs: 19_900, next: 20_060 },
    { what: 'longer', followMs: 20_100, next: undefined },
  ])('starts no level on a verdict older than two probe intervals: $what', ({ followMs, next }) => {
    const options = { resources: [at(a, 0, { timeoutMs: 100_000 }), at(c, 1)], objects: [held(a), held(c)], followMs };
    const { sent, ends } = run({ ...options, verdictAt: once(upVerdict) }, 100_000);
    expect(sent).toEqual([patchAt(100, 'a', 3), ...(next === undefined ? [] : [patchAt(next, 'c', 3)])]);
    expect(ends.length).toBe(next === undefined ? 0 : 1);
  });

  it('continues when the verdict is confirmed', () => {
    const options = {
      resources: [at(a, 0, { timeoutMs: 100_000 }), at(c, 1, { timeoutMs: 100_000 })],
      objects: [held(a), held(c)],
    };
    const verdictAt = (now: number) => (now === 0 || now > 50_000 ? upVerdict : undefined);
    const { sent, ends } = run({ ...options, followMs: 35_000, verdictAt }, 100_000);
    expect(sent).toEqual([patchAt(100, 'a', 3), patchAt(50_600, 'c', 3)]);
    expect(ends).toMatchObject([{ direction: 'up', end: 'completed' }]);
  });

  describe.each([
    { what: 'its initial delay', info: { initialDelayMs: 25_000 }, first: undefined },
    { what: 'a Retry-After', info: {}, first: { error: 'TooManyRequests', retryAfterMs: 25_000 } as const },
  ])('that has waited for $what until its verdict is older than two probe intervals', ({ info, first }) => {
    const oneLevel = { resources: [at(a, 0, info)], objects: [held(a)] };
    const fates = (index: number): RequestFate => ({ latencyMs: 20, ...(index === 0 ? first : undefined) });
    const before = first === undefined ? [] : [patchAt(100, 'a', 3)];
    const late = (now: number) => (now === 0 || now > 50_000 ? upVerdict : undefined);

    it('scales nothing', () => {
      const { sent, ends } = run({ ...oneLevel, verdictAt: once(upVerdict), fateOf: fates });
      expect([sent, ends]).toEqual([before, []]);
    });

    it('continues when the verdict is confirmed, with its whole timeout', () => {
      const { sent, ends } = run({ ...oneLevel, verdictAt: late, fateOf: fates, followMs: 29_000 });
      expect(sent).toEqual([...before, patchAt(50_600, 'a', 3)]);
      expect(ends).toEqual([{ at: 79_660, direction: 'up', end: 'completed' }]);
    });

    it('removes leftover marks nevertheless', () => {
      const harness = new SeedHarness({ ...oneLevel, verdictAt: once(upVerdict), fateOf: fates });
      harness.at(30_000, () => harness.model.edit(refKey(a), { replicas: 2 }));
      harness.runUntil(60_000);
      expect(requestsIn(harness.log)).toEqual([...before, markAt(30_050, 'a')]);
      expect(harness.ends).toMatchObject([{ end: 'completed' }]);
    });
  });

  it('of held resources ignores missing ones', () => {
    const { sent, ends } = run({ resources, objects: [held(b), held(c)], verdictAt: once(upHeldVerdict) });
    expect(sent).toEqual([patchAt(100, 'b', 3), patchAt(1_160, 'c', 3)]);
    expect(ends).toMatchObject([{ end: 'completed' }]);
  });

  it('of held resources waits for one that an earlier attempt restored, and whose pods are not ready yet', () => {
    const objects = [objectOf(a, { replicas: 3, ready: 0 }), held(c)];
    const options = { resources: [at(a, 0), at(c, 1)], objects, followMs: Number.POSITIVE_INFINITY };
    expect(run({ ...options, verdictAt: once(upHeldVerdict) })).toMatchObject({ sent: [], ends: [{ end: 'failed' }] });
  });

  it('of held resources does not wait for one that another writer scaled up, and whose pods are not ready', () => {
    const objects = [objectOf(a, { replicas: 1, ready: 0, replicasManager: 'gardenlet' }), held(c)];
    const options = { resources: [at(a, 0), at(c, 1)], objects, followMs: Number.POSITIVE_INFINITY };
    expect(run({ ...options, verdictAt: once(upHeldVerdict) }).sent).toEqual([patchAt(100, 'c', 3)]);
  });

  it('of held resources leaves out one that may not be read, and that no watch shows as held', () => {
    const fates = fateOf({ a: { error: 'Forbidden' } });
    const options = { resources: [at(a, 0), at(c, 1)], objects: [held(c)], fateOf: fates };
    const served = (key: string): ServedKind =>
      key === refKey(a) ? { kind: 'unknown' } : { kind: 'served', resource: 'things' };
    const { sent, ends } = run({ ...options, served, verdictAt: once(upHeldVerdict) });
    expect(sent).toEqual([readAt(100, 'a'), patchAt(120, 'c', 3)]);
    expect(ends).toMatchObject([{ end: 'completed' }]);
  });

  it('of held resources leaves the others at 0', () => {
    const objectsOfBoth = [objectOf(a, { replicas: 0 }), held(b), held(c)];
    const { sent } = run({ resources, objects: objectsOfBoth, verdictAt: once(upHeldVerdict) });
    expect(sent).toEqual([patchAt(100, 'b', 3), patchAt(1_160, 'c', 3)]);
  });

  it.each([
    { what: 'narrower, holds from then on', verdicts: [upVerdict, upHeldVerdict], bReplicas: 0 },
    { what: 'wider, is for the next scaling', verdicts: [upHeldVerdict, upVerdict, failedVerdict], bReplicas: 0 },
    { what: 'the same, changes nothing', verdicts: [upVerdict, upVerdict], bReplicas: 1 },
  ])('continues after a verdict whose scope is $what', ({ verdicts, bReplicas }) => {
    const levels = [at(a, 0, { timeoutMs: 60_000 }), at(b, 1), at(c, 1)];
    const options = { resources: levels, objects: [held(a), objectOf(b, { replicas: 0 }), held(c)] };
    const verdictAt = (now: number) => verdicts[Math.min(Math.floor(now / 10_000), verdicts.length - 1)];
    const { harness } = run({ ...options, verdictAt, followMs: 15_000 }, 60_000);
    expect(harness.model.get(refKey(b))?.replicas).toBe(bReplicas);
    expect(harness.model.get(refKey(c))).toMatchObject({ replicas: 3, annotations: {} });
  });
});

describe('a resource that is no longer configured', () => {
  const dropped: DependentResource = { ...dependent(b, { down: null, optional: true }), restoreOnly: true };
  const resources = [at(a, 0), dropped];

  it('is restored if we hold it', () => {
    const { sent, ends } = run({ resources, objects: [up(a), held(b)], verdictAt: once(upVerdict) });
    expect(sent).toEqual([patchAt(100, 'b', 3)]);
    expect(ends).toMatchObject([{ end: 'completed', at: 1_160 }]);
  });

  it('is left alone otherwise, with any annotations', () => {
    for (const given of [{ replicas: 0 }, { replicas: 3, annotations: { [replicas]: '2' } }]) {
      const objects = [held(a), objectOf(b, given)];
      const { sent } = run({ resources, objects, verdictAt: once(upVerdict) });
      expect(sent).toEqual([patchAt(100, 'a', 3)]);
      expect(run({ resources: [dropped], objects, verdictAt: once(upVerdict) }).ends).toEqual([]);
    }
  });

  it('is not scaled down again', () => {
    const { sent } = run({ resources, objects: [up(a), up(b)], verdictAt: once(downVerdict) });
    expect(sent).toEqual([patchAt(100, 'a', 0)]);
  });
});

describe('a scale-down', () => {
  const base = { objects: [up(a), up(b)], verdictAt: once(downVerdict), followMs: 60_000 };

  it.each([
    { timeoutMs: 500, initialDelayMs: 0, next: 600 },
    { timeoutMs: 3_000, initialDelayMs: 0, next: 3_100 },
    { timeoutMs: 30_000, initialDelayMs: 0, next: 3_100 },
    { timeoutMs: 30_000, initialDelayMs: 2_000, next: 5_100 },
    { timeoutMs: 1_000, initialDelayMs: 2_000, next: 3_100 },
  ])('starts the next level after $initialDelayMs + min($timeoutMs, 3 s)', ({ next, ...info }) => {
    const { sent } = run({ ...base, resources: [at(a, 0, info), at(b, 1)] });
    expect(sent).toEqual([patchAt(100 + info.initialDelayMs, 'a', 0), patchAt(next, 'b', 0)]);
  });

  it('needs no fresh verdict after a long initial delay', () => {
    const { sent } = run({ ...base, resources: [at(a, 0, { initialDelayMs: 45_000 })] });
    expect(sent).toEqual([patchAt(45_100, 'a', 0)]);
  });

  it.each([
    { what: 'whose pods are still there', object: objectOf(a, { replicas: 0, ready: 1 }), next: 3_100 },
    { what: 'that is missing', object: undefined, next: 3_100 },
    { what: 'that is ignored', object: objectOf(a, { annotations: { [ignore]: 'true' } }), next: 3_100 },
    { what: 'that is up', object: up(a), next: 23_100 },
  ])('waits for the initial delay only if the resource needs scaling: beside one $what', ({ object, next }) => {
    const resources = [at(a, 0, { initialDelayMs: 20_000 }), at(c, 0), at(b, 1)];
    const objects = [...(object === undefined ? [] : [object]), up(b), up(c)];
    const { sent } = run({ ...base, objects, resources });
    expect(sent.filter(({ name }) => name === 'b')).toEqual([patchAt(next, 'b', 0)]);
  });

  it('waits for the initial delay until a read has shown if the resource needs scaling', () => {
    const main = etcd('a');
    const fates = fateOf({ a: { latencyMs: 4_000 } });
    const scaled = (replicas: number) => {
      const objects = [objectOf(main, { replicas, ready: 3 }), up(b)];
      const resources = [at(main, 0, { initialDelayMs: 2_000 }), at(b, 1)];
      return run({ ...base, objects, resources, fateOf: fates }, 20_000).sent;
    };
    expect(scaled(3).slice(0, 3)).toEqual([readAt(100, 'a'), markAt(4_100, 'a'), patchAt(5_100, 'b', 0)]);
    expect(scaled(0).slice(0, 2)).toEqual([readAt(100, 'a'), patchAt(4_100, 'b', 0)]);
  });

  it('waits for the slowest resource of a level, within the limit', () => {
    const resources = [at(a, 0, { timeoutMs: 1_000 }), at(c, 0, { timeoutMs: 2_000 }), at(b, 1)];
    const { sent } = run({ ...base, objects: [up(a), up(b), up(c)], resources });
    expect(sent).toEqual([patchAt(100, 'a', 0), patchAt(100, 'c', 0), patchAt(2_100, 'b', 0)]);
  });

  it.each([
    { what: 'missing', objects: [up(b), up(c)], fates: {}, next: 100, end: 'failed' },
    {
      what: 'forbidden',
      objects: [up(a), up(b), up(c)],
      fates: { a: { error: 'Forbidden' } },
      next: 120,
      end: 'failed',
    },
    { what: 'slow', objects: [up(a), up(b), up(c)], fates: { a: { latencyMs: 4_500 } }, next: 3_100, end: 'completed' },
    {
      what: 'without any response',
      objects: [up(a), up(b), up(c)],
      fates: { a: { latencyMs: 1e6 } },
      next: 3_100,
      end: undefined,
    },
    {
      what: 'always changed by another client',
      objects: [up(a), up(b), up(c)],
      fates: { a: { interference: {} } },
      next: 200,
      end: 'failed',
    },
  ] as const)('is not delayed by a resource that is $what', ({ objects, fates, next, end }) => {
    const resources = [at(a, 0), at(b, 1), at(c, 2)];
    const options = { resources, objects, verdictAt: once(downVerdict), followMs: 400, fateOf: fateOf(fates) };
    const { sent, ends } = run(options, 30_000);
    const others = sent.filter(({ name }) => name !== 'a');
    expect(others).toEqual([patchAt(next, 'b', 0), patchAt(next + 460, 'c', 0)]);
    expect(ends[0]?.end).toBe(end);
  });

  it('retries a missing resource with the next run', () => {
    const resources = [at(a, 0), at(b, 1)];
    const harness = new SeedHarness({
      resources,
      objects: [up(a), up(b)],
      verdictAt: () => downVerdict,
      watchLagMs: 0,
    });
    harness.model.edit(refKey(a), undefined);
    harness.runUntil(15_000);
    expect(harness.ends).toMatchObject([{ end: 'failed' }, { end: 'failed' }]);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'b', 0)]);
  });

  it('continues an early level while a later one runs', () => {
    const resources = [at(a, 0), at(b, 1)];
    const fates = fateOf({ a: { latencyMs: 7_000, error: 'ServerError' } });
    const { sent } = run({ resources, objects: [up(a), up(b)], verdictAt: once(downVerdict), fateOf: fates }, 10_000);
    expect(sent).toEqual([patchAt(100, 'a', 0), patchAt(3_100, 'b', 0), readAt(7_200, 'a')]);
  });
});
