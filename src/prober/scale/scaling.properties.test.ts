import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiErrorCode } from '../../kubernetes/api/errors.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import { isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import type { Verdict } from '../judge/judgement.ts';
import type { DependentResource } from '../config/settings.ts';
import {
  type RequestFate,
  type LogEntry,
  dependent,
  downVerdict,
  failedVerdict,
  upHeldVerdict,
  upVerdict,
} from '../testing/cases.ts';
import { type HarnessOptions, SeedHarness } from '../testing/seed-harness.ts';
import { type ModelObject, deployment, etcd, objectOf } from '../testing/seed-model.ts';

/** Count of every resource before the first scaling. */
const original = 4;

interface World {
  readonly resources: readonly DependentResource[];
  readonly objects: readonly ModelObject[];
  /** Fates of the requests while there are faults. */
  readonly fates: readonly RequestFate[];
  /** One verdict per probe interval. */
  readonly verdicts: readonly Verdict[];
  readonly watchLagMs: number;
  readonly followMs: number;
  readonly synced: boolean;
}

const errorCode = fc.constantFrom<ApiErrorCode>(
  'ServerError',
  'ConnectionError',
  'Timeout',
  'MalformedResponse',
  'Conflict',
  'Forbidden',
  'Rejected',
);
const latencyMs = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(2, 20, 300) },
  { weight: 1, arbitrary: fc.constantFrom(4_000, 15_000) },
);

const anyVerdict = fc.constantFrom<Verdict>(
  downVerdict,
  downVerdict,
  upVerdict,
  upVerdict,
  upHeldVerdict,
  { kind: 'skipped' },
  failedVerdict,
);

/** Fates of requests. Only a write that was not refused may have landed. */
const fate: fc.Arbitrary<RequestFate> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ latencyMs }) },
  { weight: 2, arbitrary: fc.record({ latencyMs, error: errorCode }) },
  {
    weight: 3,
    arbitrary: fc.record({
      latencyMs,
      error: fc.constantFrom<ApiErrorCode>('ServerError', 'ConnectionError', 'Timeout', 'MalformedResponse'),
      landed: fc.constant(true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      latencyMs,
      error: fc.constant<ApiErrorCode>('TooManyRequests'),
      retryAfterMs: fc.constantFrom(0, 1_000, 8_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      latencyMs: fc.constantFrom(0, 5_000),
      error: fc.constant<ApiErrorCode>('Timeout'),
      rateLimited: fc.constant<true>(true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ latencyMs, interference: fc.constant({}) }) },
);

const marks = { [active]: '', [replicas]: String(original) };
/** States of a resource after a scaling that stopped at any point. */
const initialState = fc.constantFrom<Partial<ModelObject>>(
  { replicas: original },
  { replicas: original },
  { replicas: 0, annotations: marks },
  { replicas: 0, annotations: marks, ready: 2 },
  { replicas: original, annotations: marks },
  { replicas: original, ready: 0 },
);

interface Part {
  readonly resource: DependentResource;
  readonly object: ModelObject | undefined;
}

const info = fc.record({
  level: fc.constantFrom(0, 1, 2),
  initialDelayMs: fc.constantFrom(0, 0, 2_000),
  timeoutMs: fc.constantFrom(2_000, 10_000, 30_000),
});

const partOf = (ref: ResourceRef): fc.Arbitrary<Part> =>
  fc
    .record({
      up: info,
      down: fc.option(info, { freq: 8 }),
      state: initialState,
      missing: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
    })
    .map(({ up, down, state, missing }) => ({
      resource: dependent(ref, { up, down, optional: missing }),
      object: missing ? undefined : objectOf(ref, state),
    }));

const refs = [deployment('a'), deployment('b'), etcd('c'), deployment('d'), etcd('e')];
const parts: fc.Arbitrary<readonly Part[]> = fc
  .subarray(refs, { minLength: 1, maxLength: 4 })
  .chain((chosen) => fc.tuple(...chosen.map(partOf)));

const world: fc.Arbitrary<World> = fc
  .record({
    parts,
    fates: fc.array(fate, { minLength: 1, maxLength: 12 }),
    verdicts: fc.array(anyVerdict, {
      minLength: 1,
      maxLength: 6,
    }),
    watchLagMs: fc.constantFrom(0, 50, 50, 5_000),
    followMs: fc.constantFrom(10, 1_000, 1_000, 20_000),
    synced: fc.integer({ min: 0, max: 5 }).map((roll) => roll > 0),
  })
  .map(({ parts: all, ...rest }) => ({
    ...rest,
    resources: all.map(({ resource }) => resource),
    objects: all.flatMap(({ object }) => (object === undefined ? [] : [object])),
  }));

/** Options with faults and the given verdicts first, then the verdict `last` and no faults. */
const optionsOf = (given: World, last: Verdict): HarnessOptions => {
  const faultsUntil = given.verdicts.length * 10_000;
  const { fates, verdicts } = given;
  const steady = (at: number): RequestFate => fates[Math.floor(at) % fates.length] ?? { latencyMs: 20 };
  return {
    ...given,
    verdictAt: (now) => verdicts[Math.floor(now / 10_000)] ?? last,
    fateOf: (index, { at }) => (at < faultsUntil ? steady(index) : { latencyMs: 20 }),
  };
};

/** Returns the count that a restoration would write. */
const recoverable = ({ replicas: count, annotations }: ModelObject): number =>
  count > 0 ? count : Number(annotations[replicas] ?? 1);

const isRestored = ({ replicas: count, annotations }: ModelObject): boolean =>
  count === original && Object.keys(annotations).length === 0;

/** Longest time of one scaling without faults, its restarts included. */
const calmMs = 400_000;

describe('a shoot with random faults of its requests', () => {
  it('never loses the count of a resource, nor sends it two requests at a time', () => {
    fc.assert(
      fc.property(world, (given) => {
        const check = (harness: SeedHarness) => {
          for (const object of harness.model.objects.values()) {
            expect(recoverable(object)).toBe(original);
            expect(object.annotations[replicas]).not.toBe('0');
          }
        };
        new SeedHarness({ ...optionsOf(given, failedVerdict), check }).runUntil(
          given.verdicts.length * 10_000 + 60_000,
        );
      }),
      { numRuns: 150 },
    );
  });

  it('is fully restored when nodes are reachable and faults are over', () => {
    fc.assert(
      fc.property(world, (given) => {
        const harness = new SeedHarness(optionsOf(given, upVerdict));
        harness.runUntil(given.verdicts.length * 10_000 + calmMs);
        expect([...harness.model.objects.values()].filter((object) => !isRestored(object))).toEqual([]);
        expect(harness.state().scaling).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });

  it('is fully scaled down when nodes are cut off and faults are over', () => {
    fc.assert(
      fc.property(world, (given) => {
        const harness = new SeedHarness(optionsOf(given, downVerdict));
        harness.runUntil(given.verdicts.length * 10_000 + calmMs);
        for (const { ref, scaleDown } of given.resources) {
          const object = harness.model.get(refKey(ref));
          if (object === undefined || scaleDown === undefined) continue;
          expect(object).toMatchObject({ replicas: 0, annotations: { [replicas]: String(original) } });
        }
      }),
      { numRuns: 150 },
    );
  });

  it('can be taken over by a new process after a crash at any instant', () => {
    fc.assert(
      fc.property(world, (given) => {
        const seen = new Set<string>();
        const check = (harness: SeedHarness) => {
          const objects = [...harness.model.objects.values()];
          const picture = JSON.stringify(objects.map((object) => [object.replicas, object.annotations, object.ready]));
          if (seen.has(picture)) return;
          seen.add(picture);
          const { resources } = given;
          const next = new SeedHarness({
            resources,
            objects,
            verdictAt: () => upVerdict,
            fateOf: () => ({ latencyMs: 20 }),
          });
          next.runUntil(calmMs);
          expect([...next.model.objects.values()].filter((object) => !isRestored(object))).toEqual([]);
        };
        new SeedHarness({ ...optionsOf(given, failedVerdict), check }).runUntil(
          given.verdicts.length * 10_000 + 60_000,
        );
      }),
      { numRuns: 30 },
    );
  });
});

const levelOf = ({ resources }: World, { action, direction }: LogEntry): number => {
  const resource = resources.find(({ ref }) => refKey(ref) === action.key);
  return (direction === 'down' ? resource?.scaleDown?.level : resource?.scaleUp.level) ?? Number.NaN;
};

describe('levels', () => {
  it('of a scale-up never start before all earlier levels are ready', () => {
    fc.assert(
      fc.property(world, (given) => {
        let checked = 0;
        const check = (harness: SeedHarness) => {
          const news = harness.log.slice(checked);
          checked = harness.log.length;
          for (const entry of news) {
            if (entry.direction !== 'up' || entry.scope !== 'all') continue;
            const level = levelOf(given, entry);
            const below = given.resources.filter(({ scaleUp }) => scaleUp.level < level);
            for (const { ref } of below) {
              const object = harness.model.get(refKey(ref));
              if (object === undefined) continue;
              const what = `${refKey(ref)} when ${entry.action.key} is asked`;
              expect(object.replicas, what).toBe(original);
              expect(object.observedGeneration).toBe(object.generation);
              expect(object.ready).toBeGreaterThanOrEqual(1);
            }
          }
        };
        new SeedHarness({ ...optionsOf(given, upVerdict), check }).runUntil(given.verdicts.length * 10_000 + 100_000);
      }),
      { numRuns: 150 },
    );
  });

  it('of a scale-down all start in time, even if earlier levels fail', () => {
    fc.assert(
      fc.property(world, (given) => {
        const options = { ...optionsOf(given, downVerdict), verdictAt: () => downVerdict };
        const harness = new SeedHarness(options);
        harness.runUntil(60_000);
        const first = harness.log.filter(({ at }) => at <= (harness.ends[0]?.at ?? Number.POSITIVE_INFINITY));
        for (const entry of first) {
          const level = levelOf(given, entry);
          const below = given.resources.flatMap(({ scaleDown }) => (scaleDown === undefined ? [] : [scaleDown]));
          const levels = [...new Set(below.map((scale) => scale.level).filter((other) => other < level))];
          const longest = levels.map((each) =>
            Math.max(
              ...below
                .filter((scale) => scale.level === each)
                .map(({ initialDelayMs, timeoutMs }) => initialDelayMs + Math.min(timeoutMs, 3_000)),
            ),
          );
          const own =
            given.resources.find(({ ref }) => refKey(ref) === entry.action.key)?.scaleDown?.initialDelayMs ?? 0;
          const isFirst = first.find(({ action }) => action.key === entry.action.key) === entry;
          if (isFirst) expect(entry.at).toBeLessThanOrEqual(100 + own + longest.reduce((sum, each) => sum + each, 0));
        }
        // The first scaling reads or writes every resource that is up.
        const asked = new Set(first.map(({ action }) => action.key));
        for (const { ref, scaleDown } of given.resources) {
          const object = given.objects.find((each) => refKey(each.ref) === refKey(ref));
          if (object === undefined || scaleDown === undefined || object.replicas === 0) continue;
          expect(asked).toContain(refKey(ref));
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('an autoscaler that changes counts in between', () => {
  const meddling: fc.Arbitrary<RequestFate> = fc.oneof(
    fate,
    fc.record({ latencyMs, interference: fc.record({ replicas: fc.integer({ min: 1, max: 9 }) }) }),
  );

  it('never leaves a resource at 0, nor stores 0 as the count to restore', () => {
    fc.assert(
      fc.property(world, fc.array(meddling, { minLength: 1, maxLength: 12 }), (given, fates) => {
        const check = (harness: SeedHarness) => {
          for (const object of harness.model.objects.values()) {
            expect(recoverable(object)).toBeGreaterThanOrEqual(1);
            // A resource at 0 has a stored count, and so does every marked workload, because both are written at once.
            if (object.replicas === 0) expect(object.annotations).toHaveProperty([replicas]);
            if (isPatchableWorkload(object.ref) && active in object.annotations) {
              expect(object.annotations).toHaveProperty([replicas]);
            }
          }
        };
        const harness = new SeedHarness({ ...optionsOf({ ...given, fates }, upVerdict), check });
        harness.runUntil(given.verdicts.length * 10_000 + calmMs);
        for (const object of harness.model.objects.values()) {
          expect(object.replicas).toBeGreaterThanOrEqual(1);
          expect(object.annotations).toEqual({});
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('a scaling', () => {
  it('ends within the sum of its delays, timeouts and requests, unless it waits for a fresh verdict', () => {
    fc.assert(
      fc.property(world, fc.constantFrom(downVerdict, upVerdict), (given, verdict) => {
        // The verdict is repeated for ever, so that no scaling waits for it; pods never follow.
        const options: HarnessOptions = { ...optionsOf(given, verdict), verdictAt: () => verdict, followMs: Infinity };
        const harness = new SeedHarness(options);
        harness.runUntil(300_000);
        const [longestAttempt] = [...given.fates]
          .map((each) => each.latencyMs + Math.max(100, each.retryAfterMs ?? 0))
          .sort((a, b) => b - a);
        // Per resource: its delay, three attempts of up to four requests each, its timeout, and the last poll.
        const bound = given.resources
          .flatMap(({ scaleUp, scaleDown }) =>
            verdict === upVerdict ? [scaleUp] : scaleDown === undefined ? [] : [scaleDown],
          )
          .map(({ initialDelayMs, timeoutMs }) => initialDelayMs + timeoutMs + 12 * (longestAttempt ?? 20) + 1_000)
          .reduce((sum, each) => sum + each, 0);
        const { scaling } = harness.state();
        if (scaling !== undefined) expect(harness.now() - scaling.startedAt).toBeLessThanOrEqual(bound);
        for (const [index, { at }] of harness.ends.entries()) {
          expect(at - harness.starts[index]!).toBeLessThanOrEqual(bound);
        }
      }),
      { numRuns: 100 },
    );
  });
});
