import { describe, expect, it } from 'vitest';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { type Decision, emptyProbeMemory, type Verdict } from '../judge/judgement.ts';
import type { DependentResource } from '../config/settings.ts';
import {
  type RequestFate,
  dependent,
  downVerdict,
  failedVerdict,
  once,
  requestsIn,
  patchAt,
  readAt,
  upHeldVerdict,
  upVerdict,
} from '../testing/cases.ts';
import { type HarnessOptions, SeedHarness } from '../testing/seed-harness.ts';
import { deployment, objectOf, stateOf } from '../testing/seed-model.ts';
import { advanceShoot, mayWriteNow, type ShootContext, type ShootEvent, initialState } from './advance-shoot.ts';
import { type Role, leader } from './desired.ts';

const [a, b] = [deployment('a'), deployment('b')];
const isHeld = { annotations: { [active]: '', [replicas]: '3' }, replicas: 0 };
const held = (ref: typeof a) => objectOf(ref, isHeld);
const up = (ref: typeof a) => objectOf(ref, { replicas: 3 });
const at = (ref: typeof a, level: number, info: Partial<DependentResource['scaleUp']> = {}): DependentResource =>
  dependent(ref, { up: { level, ...info }, down: { level, ...info } });

/** Verdicts of the runs, one every 10 s from 0; the last one is repeated. */
const verdicts =
  (...given: readonly (Verdict | undefined)[]) =>
  (now: number): Verdict | undefined =>
    given[Math.min(Math.floor(now / 10_000), given.length - 1)];

const run = (options: HarnessOptions, until = 100_000): SeedHarness => {
  const harness = new SeedHarness(options);
  harness.runUntil(until);
  return harness;
};

describe('an opposite verdict', () => {
  it('ends waits and unsent writes at once', () => {
    const resources = [at(a, 0), at(b, 1, { initialDelayMs: 15_000 })];
    const options = { resources, objects: [up(a), up(b)], verdictAt: verdicts(downVerdict, upVerdict) };
    const harness = run(options, 19_000);
    expect(harness.ends.slice(0, 1)).toEqual([{ at: 10_200, direction: 'down', end: 'dropped' }]);
    const sent = requestsIn(harness.log);
    expect(sent).toEqual([patchAt(100, 'a', 0), patchAt(10_200, 'a', 3)]);
    expect(sent.filter(({ name, replicas: count }) => name === 'b' && count === 0)).toEqual([]);
    expect(harness.model.get(refKey(b))).toMatchObject({ replicas: 3, annotations: {} });
  });

  const landing: Verdict = { kind: 'landing', renewed: 1, awaited: 2, late: [], latest: 200_000 };

  it('landing ends a scale-down, and restores nothing yet', () => {
    const resources = [at(a, 0), at(b, 1, { initialDelayMs: 15_000 })];
    const harness = run({ resources, objects: [up(a), up(b)], verdictAt: verdicts(downVerdict, landing) });
    expect(harness.ends).toEqual([{ at: 10_200, direction: 'down', end: 'dropped' }]);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0)]);
  });

  it('landing ends a scale-up that has written nothing, and no other', () => {
    const [first, second] = [at(a, 0), at(b, 1, { initialDelayMs: 15_000 })];
    const verdictAt = verdicts(upVerdict, landing);
    const late = run({ resources: [second], objects: [held(b)], verdictAt });
    expect([late.ends, requestsIn(late.log)]).toEqual([[{ at: 10_200, direction: 'up', end: 'dropped' }], []]);
    const begun = run({ resources: [first, second], objects: [held(a), held(b)], verdictAt });
    expect(requestsIn(begun.log)).toEqual([patchAt(100, 'a', 3), patchAt(16_160, 'b', 3)]);
  });

  it('awaits a write in flight, and then reads', () => {
    const resources = [at(a, 0)];
    const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 14_000 : 20 });
    const options = { resources, objects: [up(a)], verdictAt: verdicts(downVerdict, upVerdict), fateOf };
    const harness = run(options);
    expect(harness.ends[0]).toEqual({ at: 10_200, direction: 'down', end: 'dropped' });
    expect(requestsIn(harness.log).slice(0, 3)).toEqual([
      patchAt(100, 'a', 0),
      readAt(14_100, 'a'),
      patchAt(14_120, 'a', 3),
    ]);
    expect(harness.model.get(refKey(a))).toMatchObject({ replicas: 3, annotations: {} });
  });

  it('ages from its own time: a scale-up that had to wait too long waits for another verdict', () => {
    const resources = [at(a, 0)];
    const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 31_000 : 20 });
    const verdictAt = verdicts(downVerdict, upVerdict, undefined, undefined, undefined, upVerdict);
    const harness = run({ resources, objects: [up(a)], verdictAt, fateOf });
    expect(requestsIn(harness.log).slice(1)).toEqual([readAt(31_100, 'a'), patchAt(50_600, 'a', 3)]);
    expect(harness.ends[1]).toMatchObject({ direction: 'up', end: 'completed' });
  });

  it('ages from its own time for the levels too', () => {
    const resources = [at(a, 0, { timeoutMs: 60_000 }), at(b, 1)];
    const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 25_000 : 20 });
    const verdictAt = verdicts(downVerdict, upVerdict, undefined);
    const options = { resources, objects: [up(a), held(b)], verdictAt, fateOf, followMs: 8_000 };
    const harness = run(options);
    // a is ready at 33 s, and the verdict dates from 10.2 s.
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0), readAt(25_100, 'a'), patchAt(25_120, 'a', 3)]);
  });

  it('is replaced by the latest verdict if another came meanwhile', () => {
    const resources = [at(a, 0)];
    const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 35_000 : 20 });
    const verdictAt = verdicts(downVerdict, upVerdict, downVerdict, failedVerdict);
    const harness = run({ resources, objects: [up(a)], verdictAt, fateOf });
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0), readAt(35_100, 'a')]);
    expect(harness.model.get(refKey(a))?.replicas).toBe(0);
  });

  it('down after up keeps a write whose response was lost', () => {
    const resources = [at(a, 0)];
    const fateOf = (index: number): RequestFate => {
      return index === 0 ? { latencyMs: 12_000, error: 'ConnectionError', landed: true } : { latencyMs: 20 };
    };
    const harness = run({ resources, objects: [held(a)], verdictAt: verdicts(upVerdict, downVerdict), fateOf });
    expect(requestsIn(harness.log).slice(0, 3)).toEqual([
      patchAt(100, 'a', 3),
      readAt(12_100, 'a'),
      patchAt(12_120, 'a', 0),
    ]);
    expect(harness.model.get(refKey(a))).toMatchObject({ replicas: 0, annotations: isHeld.annotations });
  });
});

describe('other verdicts', () => {
  const slow = { resources: [at(a, 0), at(b, 1, { initialDelayMs: 15_000, timeoutMs: 60_000 })] };

  it('in the same direction start no second scaling', () => {
    for (const [verdict, objects] of [
      [downVerdict, [up(a), up(b)]],
      [upVerdict, [held(a), held(b)]],
    ] as const) {
      const harness = run({ ...slow, objects, verdictAt: () => verdict }, 60_000);
      expect(harness.ends).toMatchObject([{ end: 'completed' }]);
      expect(harness.log).toHaveLength(2);
    }
  });

  it.each([{ kind: 'skipped' }, { kind: 'confirming' }, failedVerdict] satisfies Verdict[])(
    'leave a scaling as it is: $kind',
    (verdict) => {
      for (const [first, objects] of [
        [downVerdict, [up(a), up(b)]],
        [upVerdict, [held(a), held(b)]],
      ] as const) {
        const harness = run({ ...slow, objects, verdictAt: verdicts(first, verdict) }, 60_000);
        expect(harness.ends).toMatchObject([{ end: 'completed' }]);
        expect(harness.log).toHaveLength(2);
      }
    },
  );

  it('start no scaling if there is nothing to do', () => {
    for (const [verdict, objects] of [
      [upVerdict, [up(a), up(b)]],
      [downVerdict, [held(a), held(b)]],
      [upHeldVerdict, [objectOf(a, { replicas: 0 }), up(b)]],
      [{ kind: 'skipped' }, [held(a), held(b)]],
      [failedVerdict, [held(a), held(b)]],
    ] as const) {
      const harness = run({ ...slow, objects, verdictAt: () => verdict });
      expect([harness.log, harness.ends]).toEqual([[], []]);
    }
  });
});

describe('runs', () => {
  const context = (now: number): ShootContext => ({
    now,
    wallNow: now,
    holder: { by: 'test' },
    snapshotOf: () => ({ kind: 'absent' }),
    resources: [],
    probeIntervalMs: 10_000,
    mustRead: false,
    role: leader,
    inFlight: new Set(),
  });
  const initial = initialState({ probe: emptyProbeMemory, nextRunAt: 5_000 });
  const ended = (nextRunAt: number): ShootEvent => ({
    kind: 'run-ended',
    decision: { verdict: { kind: 'skipped' }, reason: '', nextRunAt, memory: emptyProbeMemory },
  });

  it('start when they are due, one at a time', () => {
    expect(advanceShoot(initial, [], context(4_999))).toMatchObject({ effects: [], wakeAt: 5_000 });
    const started = advanceShoot(initial, [], context(5_000));
    expect(started).toMatchObject({ effects: [{ kind: 'start-run' }], wakeAt: Number.POSITIVE_INFINITY });
    expect(advanceShoot(started.state, [], context(50_000))).toMatchObject({ effects: [] });
    const next = advanceShoot(started.state, [ended(60_000)], context(50_000));
    expect(next).toMatchObject({ effects: [], wakeAt: 60_000 });
    expect(advanceShoot(started.state, [ended(50_000)], context(50_000)).effects).toEqual([{ kind: 'start-run' }]);
  });

  it('that threw an error are followed by others', () => {
    const { state } = advanceShoot(initial, [], context(5_000));
    const broke = advanceShoot(state, [{ kind: 'run-aborted', nextRunAt: 16_000 }], context(6_000));
    expect(broke).toMatchObject({ effects: [], wakeAt: 16_000, state: { runStartedAt: undefined } });
  });

  it('end with the prober', () => {
    const { state } = advanceShoot(initial, [], context(5_000));
    const stopped = advanceShoot(
      state,
      [{ kind: 'stop', end: { releasePolicy: 'nothing', reason: 'test' } }],
      context(6_000),
    );
    expect(stopped).toMatchObject({ effects: [{ kind: 'abort-run' }], state: { ended: true } });
    const before = advanceShoot(
      initial,
      [{ kind: 'stop', end: { releasePolicy: 'nothing', reason: 'test' } }],
      context(6_000),
    );
    expect(before).toMatchObject({ effects: [], state: { ended: true } });
    const late = advanceShoot(stopped.state, [ended(7_000)], context(6_500));
    expect(late.effects).toEqual([]);
  });
});

/** Steps a loop whose resources `a` and `b` are held as given. */
const stepper = (role: Role) => {
  const resources = [at(a, 0), at(b, 1)];
  let state = initialState({ probe: emptyProbeMemory, nextRunAt: 0 });
  const inFlight = new Set<string>();
  const contextAt = (now: number, heldRefs: readonly ResourceRef[]): ShootContext => ({
    now,
    wallNow: now,
    holder: { by: 'test' },
    snapshotOf: (key) => {
      const isHeldNow = heldRefs.some((ref) => refKey(ref) === key);
      return { kind: 'state', state: stateOf(isHeldNow ? held(a) : up(a)) };
    },
    resources,
    probeIntervalMs: 10_000,
    mustRead: false,
    role: roles.at(-1)!,
    inFlight,
  });
  const step = (now: number, heldRefs: readonly ResourceRef[], ...events: readonly ShootEvent[]) => {
    const stepped = advanceShoot(state, events, contextAt(now, heldRefs));
    state = stepped.state;
    for (const effect of stepped.effects) if (effect.kind === 'send') inFlight.add(effect.action.key);
    return stepped.effects.map(({ kind }) => kind).filter((kind) => kind !== 'send');
  };
  const roles = [role];
  const mayWrite = (now: number): boolean => mayWriteNow(state, contextAt(now, []));
  return { step, become: (next: Role) => roles.push(next), state: () => state, inFlight, mayWrite };
};

const decisionAt = (now: number, crossedAt = now): Decision => ({
  verdict: { kind: 'unhealthy', crossedAt, graceEndsAt: crossedAt + 10_000 },
  reason: '',
  nextRunAt: now + 10_000,
  memory: emptyProbeMemory,
});
const judged = (now: number, crossedAt = now): ShootEvent => ({
  kind: 'run-ended',
  decision: decisionAt(now, crossedAt),
});

describe('a verdict of a run that began before a restoration', () => {
  const standby: Role = { leads: false, mayStandIn: true };

  it('scales nothing down, and the next run comes soon', () => {
    // The leader could not scale b down.
    const { step, state } = stepper(standby);
    expect(step(0, [a])).toEqual(['start-run']);
    expect(step(10_000, [a], judged(10_000))).toEqual([]);
    expect(step(11_000, [])).toEqual([]);
    expect(state().desired).toBeUndefined();
    expect(step(12_000, [])).toEqual(['start-run']);
    expect(step(12_100, [], judged(12_100))).toEqual([]);
    expect(step(15_000, [])).toEqual([]);
    expect(step(15_100, [])).toEqual(['scaling-started']);
  });

  it('while it is under way scales nothing down either', () => {
    const { step } = stepper(standby);
    expect(step(0, [a, b])).toEqual(['start-run']);
    expect(step(5_000, [b])).toEqual([]);
    expect(step(5_100, [b], judged(5_100))).toEqual([]);
    expect(step(6_099, [b])).toEqual([]);
    expect(step(6_100, [b])).toEqual(['start-run']);
  });

  it.each([
    ['between the restorations', [b]],
    ['after the restorations', []],
  ])('scales nothing down when the standby becomes leader %s', (_, stillHeld) => {
    const { step, become } = stepper(standby);
    step(0, [a, b]);
    step(10_000, [a, b], judged(10_000));
    become(leader);
    expect(step(10_500, stillHeld)).toEqual([]);
    expect(step(11_500, stillHeld)).toEqual(['start-run']);
    expect(step(11_600, stillHeld, judged(11_600))).toEqual(['scaling-started']);
  });
});

it('a standby acts on what the leader has left up for 3 s, also in a run of failures, and never beside the Go program', () => {
  const { step } = stepper({ leads: false, mayStandIn: true });
  step(0, []);
  expect(step(100, [], judged(100))).toEqual([]);
  const failed = { verdict: failedVerdict, reason: '', nextRunAt: 60_000, memory: emptyProbeMemory };
  expect(step(2_000, [], { kind: 'run-ended', decision: failed })).toEqual([]);
  expect(step(3_099, [])).toEqual([]);
  expect(step(3_100, [])).toEqual(['scaling-started']);
  const beside = stepper({ leads: false, mayStandIn: false });
  beside.step(0, []);
  beside.step(100, [], judged(100));
  expect(beside.step(9_000, [])).toEqual(['protection-late']);
});

describe('an outage that is unmet', () => {
  const beside: Role = { leads: false, mayStandIn: false };

  it('for five seconds is reported once, if nothing is held', () => {
    const { step, state } = stepper(beside);
    step(0, []);
    expect(step(100, [], judged(100))).toEqual([]);
    expect(step(5_099, [])).toEqual([]);
    expect(state().dueAt).toBe(5_100);
    expect(step(5_100, [])).toEqual(['protection-late']);
    expect(step(9_000, [])).toEqual([]);
  });

  it('is not reported if something is held by then, or nothing is up any more', () => {
    for (const heldBy of [[a], [a, b]]) {
      const { step } = stepper(beside);
      step(0, []);
      step(100, [], judged(100));
      expect(step(5_100, heldBy)).toEqual([]);
      expect(step(9_000, heldBy)).toEqual([]);
    }
  });

  it('is reported again in the next outage', () => {
    const { step } = stepper(beside);
    step(0, []);
    step(100, [], judged(100));
    expect(step(5_100, [])).toEqual(['protection-late']);
    step(10_100, [], { kind: 'run-ended', decision: { ...decisionAt(10_100), verdict: upVerdict } });
    step(20_100, [], judged(20_100));
    expect(step(25_100, [])).toContain('protection-late');
  });
});

it('a standby leaves the leader a second after its own verdict, however long ago the threshold was crossed', () => {
  const { step } = stepper({ leads: false, mayStandIn: true });
  step(0, []);
  expect(step(20_000, [], judged(20_000, 5_000))).toEqual([]);
  expect(step(20_999, [])).toEqual([]);
  expect(step(21_000, [])).toEqual(['scaling-started']);
});

describe('a scale-down, after the process was suspended,', () => {
  it('sends nothing more until a verdict confirms it', () => {
    const { step, state, inFlight } = stepper(leader);
    const sent = (): number => inFlight.size;
    step(0, []);
    step(100, [], judged(100));
    expect(sent()).toBe(1);
    step(14_000, []);
    expect([sent(), state().desired?.isDoubtful]).toEqual([1, true]);
    step(14_100, [], judged(14_100));
    expect(sent()).toBe(2);
  });

  it('sends no write that was waiting for its turn meanwhile, even before the next step', () => {
    const { step, state, mayWrite } = stepper(leader);
    step(0, []);
    step(100, [], judged(100));
    const { dueAt } = state();
    expect([mayWrite(dueAt + 10_000), mayWrite(dueAt + 10_001)]).toEqual([true, false]);
  });
});

describe('another writer that changes what is held', () => {
  it('is undone at once, once in a second', () => {
    const harness = new SeedHarness({ resources: [at(a, 0)], objects: [up(a)], verdictAt: () => downVerdict });
    // No change falls between a look and the write that follows.
    for (let second = 5; second < 9; second += 0.47) {
      harness.at(second * 1_000, () => harness.model.edit(refKey(a), { replicas: 2 }));
    }
    harness.runUntil(9_900);
    const times = requestsIn(harness.log).flatMap(({ at: time, kind }) => (kind === 'patch' ? [time] : []));
    expect(times[0]).toBe(100);
    expect(times[1]).toBe(5_150);
    expect(times.length).toBeGreaterThanOrEqual(5);
    for (const [index, time] of times.slice(1).entries()) expect(time - times[index]!).toBeGreaterThanOrEqual(1_000);
    expect(harness.model.get(refKey(a))?.replicas).toBe(0);
  });

  it('during a restoration leaves the decision to the next verdict', () => {
    const options = { resources: [at(a, 0)], objects: [up(a)], verdictAt: once(upVerdict) };
    const harness = new SeedHarness(options);
    harness.at(5_000, () => harness.model.edit(refKey(a), { replicas: 0 }));
    harness.runUntil(60_000);
    expect(harness.log).toEqual([]);
  });
});
