import { describe, expect, it } from 'vitest';
import { ignoreScalingAnnotation } from '../../annotations/scaling-annotations.ts';
import { ApiError, type ApiErrorCode } from '../../kubernetes/api/errors.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentResource, ScaleInfo } from '../config/settings.ts';
import { type ObjectInit, dependent, deployment, etcd, heldObject, objectOf, stateOf } from '../testing/resources.ts';
import type { ActionResponse, Snapshot } from './operation.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';
import type { DesiredScaling } from './desired.ts';
import {
  type Scaling,
  type ScalingContext,
  type ScalingInput,
  advanceScaling,
  confirmScaling,
  createScaling,
  hasWork,
} from './scaling.ts';

const [a, b, c] = [deployment('a'), deployment('b'), deployment('c')] as const;
const main = etcd('main');
const up = (ref: ResourceRef): ObjectInit => objectOf(ref, { replicas: 3 });
const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

/** Dependent resource with the same level in both directions. */
const at = (ref: ResourceRef, level: number, info: Partial<ScaleInfo> = {}): DependentResource =>
  dependent(ref, { up: { level, ...info }, down: { level, ...info } });

const desiredOf = (direction: Direction, scope: ScalingScope = 'all') =>
  ({ direction, scope, reason: '', since: 0, judgedAt: 0 }) as const;

const start = (
  direction: Direction,
  resources: readonly DependentResource[],
  given: { readonly inFlight?: readonly ResourceRef[]; readonly scope?: ScalingScope; readonly mustRead?: true } = {},
): Scaling => {
  const { inFlight = [], scope = 'all', mustRead = false } = given;
  return createScaling(desiredOf(direction, scope), {
    now: 0,
    resources,
    inFlight: new Set(inFlight.map(refKey)),
    mustRead,
  });
};

const seenAs = (object: ObjectInit): Snapshot => ({ kind: 'state', state: stateOf(object) });

const idleContext: ScalingContext = {
  now: 0,
  wallNow: 0,
  holder: { by: 'test' },
  resources: [],
  inFlight: new Set(),
  mustRead: false,
  snapshotOf: () => ({ kind: 'absent' }),
};

/** Steps a scaling while the watches show these objects. */
const step = (
  scaling: Scaling,
  now: number,
  { objects = [], ...given }: { readonly objects?: readonly ObjectInit[] } & Partial<ScalingInput> = {},
) => {
  const seen = new Map(objects.map((object) => [refKey(object.ref), seenAs(object)]));
  const stepped = advanceScaling(scaling, {
    ...idleContext,
    now,
    snapshotOf: (key) => seen.get(key) ?? { kind: 'absent' },
    responses: [],
    mayScale: true,
    keepsRetrying: scaling.direction === 'down',
    ...given,
  });
  return {
    ...stepped,
    end: stepped.scaling.rest?.end,
    asked: stepped.actions.map(({ kind, key }) => `${kind} ${nameOf(key)}`),
  };
};

const accepted = (object: ObjectInit): ActionResponse => ({
  key: refKey(object.ref),
  result: { ok: true, value: stateOf(object) },
});
const failed = (ref: ResourceRef, code: ApiErrorCode): ActionResponse => ({
  key: refKey(ref),
  result: { ok: false, error: new ApiError({ code, message: code }) },
});

it.each([
  { direction: 'up', before: heldObject, written: (ref: ResourceRef) => objectOf(ref, { replicas: 3, ready: 0 }) },
  { direction: 'down', before: up, written: (ref: ResourceRef) => objectOf(ref, { replicas: 0, ready: 3 }) },
] as const)('levels of a scale-$direction start in ascending order, when the pods have followed', (given) => {
  const { direction, before, written } = given;
  const rest = [before(b), before(c)];
  const first = step(start(direction, [at(c, 10), at(b, 2), at(a, 0)]), 0, { objects: [before(a), ...rest] });
  expect(first.asked).toEqual(['write a']);
  const changed = { ...written(a), version: 2 };
  const awaited = step(first.scaling, 20, { objects: [changed, ...rest], responses: [accepted(changed)] });
  expect(awaited.asked).toEqual([]);
  const settled = { ...changed, ready: changed.replicas, version: 3 };
  expect(step(awaited.scaling, 1_000, { objects: [settled, ...rest] }).asked).toEqual(['write b']);
});

it('a level of a scale-up awaits each of its resources', () => {
  const before = [heldObject(a), heldObject(b), heldObject(c)];
  const first = step(start('up', [at(a, 0), at(b, 0), at(c, 1)]), 0, { objects: before });
  expect(first.asked).toEqual(['write a', 'write b']);
  const done = { ...up(a), version: 2 };
  const next = step(first.scaling, 20, { objects: [done, heldObject(b), heldObject(c)], responses: [accepted(done)] });
  expect(next.asked).toEqual([]);
});

it.each([
  { direction: 'down', before: up, changed: up, asked: ['write a'], end: undefined },
  { direction: 'up', before: heldObject, changed: heldObject, asked: [], end: 'failed' },
] as const)(
  'a resource that another writer changes back is scaled down again, and ends a scale-$direction else',
  (given) => {
    const { direction, before, changed, asked, end } = given;
    const done = { ...(direction === 'down' ? heldObject(a) : up(a)), version: 2 };
    const begun = step(start(direction, [at(a, 0), at(b, 1)]), 0, { objects: [before(a), before(b)] });
    const next = step(begun.scaling, 20, { objects: [done, before(b)], responses: [accepted(done)] });
    expect(next.asked).toEqual(['write b']);
    const objects = [{ ...changed(a), version: 3 }, before(b)];
    expect(step(next.scaling, 2_000, { objects })).toMatchObject({ asked, end });
  },
);

it('a custom kind that has changed since its scale-down is read: no watch shows its count', () => {
  const done = { ...heldObject(main), version: 2 };
  const seen = (version: number) => (key: string) =>
    key === refKey(main)
      ? ({ kind: 'unknown', object: { resourceVersion: String(version), annotations: done.annotations } } as const)
      : seenAs(up(a));
  const begun = step(start('down', [at(main, 0), at(a, 1)]), 0, { snapshotOf: seen(1) });
  const settled = step(begun.scaling, 20, { snapshotOf: seen(2), responses: [accepted(done)] });
  const changed = step(settled.scaling, 500, { snapshotOf: seen(3) });
  expect([begun.asked, settled.asked, changed.asked]).toEqual([['read main'], ['write a'], ['read main']]);
  const upAgain = accepted({ ...objectOf(main), version: 3 });
  expect(step(changed.scaling, 520, { snapshotOf: seen(3), responses: [upAgain] }).asked).toEqual(['write main']);
});

describe('a level of a scale-down', () => {
  /** Instant at which the level of b starts while c, and a if it is up, get no response. */
  const nextLevelAt = (first: readonly DependentResource[], objects: readonly ObjectInit[]): number => {
    const initial = step(start('down', [...first, at(b, 1)]), 0, { objects: [...objects, up(b)] });
    let { scaling, wakeAt, asked } = initial;
    while (!asked.includes('write b')) {
      const now = wakeAt;
      ({ scaling, wakeAt, asked } = step(scaling, now, { objects: [...objects, up(b)] }));
      if (asked.includes('write b')) return now;
    }
    return 0;
  };

  it.each([
    { timeoutMs: 500, initialDelayMs: 0, next: 500 },
    { timeoutMs: 3_000, initialDelayMs: 0, next: 3_000 },
    { timeoutMs: 30_000, initialDelayMs: 0, next: 3_000 },
    { timeoutMs: 30_000, initialDelayMs: 2_000, next: 5_000 },
    { timeoutMs: 1_000, initialDelayMs: 2_000, next: 3_000 },
  ])('delays the next by $initialDelayMs + min($timeoutMs, 3 s) at most', ({ next, ...info }) => {
    expect(nextLevelAt([at(a, 0, info)], [up(a)])).toBe(next);
  });

  it.each([
    { what: 'whose pods are still there', objects: [objectOf(a, { replicas: 0, ready: 1 })], next: 3_000 },
    { what: 'that is missing', objects: [], next: 3_000 },
    {
      what: 'that is ignored',
      objects: [{ ...up(a), annotations: { [ignoreScalingAnnotation]: 'true' } }],
      next: 3_000,
    },
    { what: 'that is up', objects: [up(a)], next: 23_000 },
  ])('counts its initial delay only if it needs scaling: one $what', ({ objects, next }) => {
    expect(nextLevelAt([at(a, 0, { initialDelayMs: 20_000 }), at(c, 0)], [...objects, up(c)])).toBe(next);
  });

  it('that is refused, or fails three times, delays the next no longer', () => {
    const objects = [up(a), up(b)];
    const begun = step(start('down', [at(a, 0), at(b, 1)]), 0, { objects });
    const refused = step(begun.scaling, 20, { objects, responses: [failed(a, 'Forbidden')] });
    expect(refused.asked).toEqual(['write b']);
    let { scaling, asked } = begun;
    for (const now of [20, 140, 260]) {
      ({ scaling, asked } = step(scaling, now, { objects, responses: [failed(a, 'TooManyRequests')] }));
      if (now < 260) ({ scaling } = step(scaling, now + 100, { objects }));
    }
    expect(asked).toEqual(['write b']);
  });
});

it('a newer verdict tries again what a scale-down has failed to scale, without another initial delay', () => {
  const objects = [up(a), { ...heldObject(b), ready: 1 }];
  const begun = step(start('down', [at(a, 0, { initialDelayMs: 5_000 }), at(b, 0)]), 0, { objects });
  const sent = step(begun.scaling, 5_000, { objects });
  const refused = { objects, responses: [failed(a, 'Forbidden')], keepsRetrying: false };
  const { scaling, end } = step(sent.scaling, 5_020, refused);
  expect([sent.asked, end]).toEqual([['write a'], undefined]);
  const confirmed = confirmScaling(scaling, desiredOf('down'), 6_000);
  expect(step(confirmed, 6_000, { objects }).asked).toEqual(['write a']);
});

describe('a scale-up', () => {
  const resources = [at(a, 0), at(b, 0), at(c, 1)];
  const objects = [a, b, c].map(heldObject);

  it('ends at an error, and sends nothing more', () => {
    const begun = step(start('up', resources), 0, { objects });
    expect(begun.asked).toEqual(['write a', 'write b']);
    const waiting = step(begun.scaling, 20, { objects, responses: [failed(a, 'TooManyRequests')] });
    const ended = step(waiting.scaling, 500, { objects, responses: [failed(b, 'Forbidden')] });
    expect(ended).toMatchObject({ asked: [], end: 'failed', wakeAt: Number.POSITIVE_INFINITY });
  });

  it('on an old verdict scales nothing, but removes annotations; on a new one it has its whole timeout', () => {
    const old = { mayScale: false };
    const begun = step(start('up', [at(a, 0)]), 0, { objects, ...old });
    expect([begun.asked, begun.wakeAt]).toEqual([[], Number.POSITIVE_INFINITY]);
    const left = { ...heldObject(a), replicas: 2, ready: 2 };
    expect(step(begun.scaling, 30_000, { objects: [left], ...old }).asked).toEqual(['write a']);
    const confirmed = step(begun.scaling, 50_000, { objects });
    expect(confirmed.asked).toEqual(['write a']);
    const slow = objectOf(a, { replicas: 3, ready: 0, version: 2 });
    const awaited = step(confirmed.scaling, 50_020, { objects: [slow], responses: [accepted(slow)] });
    expect(awaited.wakeAt).toBe(80_000);
    expect(step(awaited.scaling, 79_999, { objects: [slow] }).end).toBeUndefined();
    expect(step(awaited.scaling, 80_000, { objects: [slow] }).end).toBe('failed');
  });

  it('on an old verdict starts no level', () => {
    const begun = step(start('up', [at(a, 0), at(c, 1)]), 0, { objects: [up(a), heldObject(c)], mayScale: false });
    expect(begun.scaling.operations.map(({ phase }) => phase.kind)).toEqual(['done', 'idle']);
    expect(step(begun.scaling, 50_000, { objects: [up(a), heldObject(c)] }).asked).toEqual(['write c']);
  });

  it('continues at the end of probing with what is held', () => {
    const confirmed = confirmScaling(start('up', resources), desiredOf('up', 'held'), 0);
    expect(confirmed.scope).toBe('held');
  });
});

it('a request of the former scaling is awaited, and then the resource is read', () => {
  const inFlight = new Set([refKey(a)]);
  const begun = step(start('up', [at(a, 0)], { inFlight: [a] }), 0, { objects: [heldObject(a)], inFlight });
  expect(begun.asked).toEqual([]);
  const answered = step(begun.scaling, 500, { objects: [heldObject(a)], responses: [failed(a, 'Timeout')] });
  expect(answered.asked).toEqual(['read a']);
});

it('while a watch is interrupted each resource is read first: it may have been ready before the outage', () => {
  const begun = step(start('up', [at(a, 0), at(b, 1)], { mustRead: true }), 0, { objects: [up(a), heldObject(b)] });
  expect(begun.asked).toEqual(['read a']);
  const down = { ...heldObject(a), version: 2 };
  const answered = step(begun.scaling, 20, { objects: [up(a), heldObject(b)], responses: [accepted(down)] });
  expect(answered.asked).toEqual(['write a']);
});

describe('a missing resource', () => {
  const absent: Snapshot = { kind: 'absent' };
  const notServed: Snapshot = { kind: 'not-served', problem: 'Etcd is not served' };

  it.each([
    ['up', 'all', false, absent, 'missing'],
    ['up', 'all', true, absent, 'absent'],
    ['up', 'held', false, absent, 'absent'],
    ['up', 'all', false, notServed, 'missing'],
    ['down', 'all', false, absent, undefined],
    ['down', 'all', true, absent, 'absent'],
    ['down', 'all', false, notServed, undefined],
    ['down', 'all', true, notServed, 'absent'],
  ] as const)('%s, scope %s, optional %s, %j: %s', (direction, scope, optional, snapshot, outcome) => {
    const begun = start(direction, [dependent(a, { optional })], { scope });
    const { asked, end, scaling } = step(begun, 0, { snapshotOf: () => snapshot });
    expect([asked, end]).toEqual([[], outcome === undefined ? 'failed' : 'completed']);
    expect(scaling.operations[0]?.phase).toMatchObject(outcome === undefined ? { kind: 'failed' } : { outcome });
  });
});

it('an optional resource that is created during a scale-down is scaled at once, unless a response has shown it gone', () => {
  const begun = step(start('down', [dependent(a, { optional: true }), at(b, 0)]), 0, { objects: [up(b)] });
  const created = step(begun.scaling, 20, { objects: [up(a), up(b)] });
  const gone = step(created.scaling, 40, { objects: [up(a), up(b)], responses: [failed(a, 'NotFound')] });
  const shownGone = step(gone.scaling, 60, { objects: [up(b)] });
  const again = step(shownGone.scaling, 80, { objects: [up(a), up(b)] });
  const asked = [begun, created, gone, shownGone, again].map((one) => one.asked.join());
  expect(asked).toEqual(['write b', 'write a', '', '', 'write a']);
});

describe('there is something to do', () => {
  const atZero = objectOf(a, { replicas: 0 });
  const dropped: DependentResource = { ...dependent(a, { down: null, optional: true }), restoreOnly: true };
  const unread: Snapshot = { kind: 'unknown', object: { resourceVersion: '1', annotations: {} } };
  const [down, all, held] = [desiredOf('down'), desiredOf('up'), desiredOf('up', 'held')];
  const tried = { ...down, isTried: true };
  const hasWorkOf = (wanted: DesiredScaling, resource: DependentResource, given: Partial<ScalingContext>): boolean => {
    const context = { ...idleContext, ...given, resources: [resource] };
    return hasWork(createScaling(wanted, context), context, wanted.isTried);
  };
  it.each<{
    readonly wanted: DesiredScaling;
    readonly snapshot: Snapshot;
    readonly resource?: DependentResource;
    readonly is: boolean;
  }>([
    { wanted: down, snapshot: seenAs(up(a)), is: true },
    { wanted: down, snapshot: seenAs(heldObject(a)), is: false },
    { wanted: down, snapshot: seenAs(up(a)), resource: dependent(a, { down: null }), is: false },
    { wanted: down, snapshot: { kind: 'absent' }, is: true },
    { wanted: down, snapshot: { kind: 'absent' }, resource: dependent(a, { optional: true }), is: false },
    { wanted: down, snapshot: { kind: 'unknown' }, is: true },
    { wanted: tried, snapshot: { kind: 'absent' }, is: false },
    { wanted: tried, snapshot: { kind: 'unknown' }, is: false },
    { wanted: tried, snapshot: unread, is: true },
    { wanted: all, snapshot: seenAs(heldObject(a)), is: true },
    { wanted: all, snapshot: seenAs(up(a)), is: false },
    { wanted: all, snapshot: { kind: 'absent' }, is: false },
    { wanted: all, snapshot: seenAs(atZero), is: true },
    { wanted: held, snapshot: seenAs(atZero), is: false },
    { wanted: held, snapshot: { kind: 'not-served', problem: 'x' }, is: false },
    { wanted: all, snapshot: seenAs(atZero), resource: dropped, is: false },
    { wanted: all, snapshot: seenAs(heldObject(a)), resource: dropped, is: true },
    { wanted: down, snapshot: seenAs(up(a)), resource: dropped, is: false },
  ])('$wanted.direction, scope $wanted.scope, $snapshot.kind: $is', (row) => {
    const { wanted, snapshot, resource = dependent(a), is } = row;
    expect(hasWorkOf(wanted, resource, { snapshotOf: () => snapshot })).toBe(is);
  });

  it('while a request is in flight', () => {
    const inFlight = new Set([refKey(a)]);
    expect(hasWorkOf(all, dependent(a), { inFlight, snapshotOf: () => seenAs(up(a)) })).toBe(true);
  });
});
