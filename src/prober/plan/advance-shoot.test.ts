import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { emptyProbeMemory } from '../judge/probe-memory.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { DependentResource } from '../settings.ts';
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
import { advanceShoot } from './advance-shoot.ts';
import type { ShootContext, ShootEvent, ShootProberState } from './shoot-state.ts';
import { type Role, leader } from './without-lead.ts';

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
  it('cancels waits and unsent writes at once, and the new flow reads from the API server first', () => {
    const resources = [at(a, 0), at(b, 1, { initialDelayMs: 15_000 })];
    const options = { resources, objects: [up(a), up(b)], verdictAt: verdicts(downVerdict, upVerdict) };
    const harness = run(options, 19_000);
    expect(harness.ends.slice(0, 1)).toEqual([{ at: 10_200, flow: 1, end: 'cancelled' }]);
    const sent = requestsIn(harness.log);
    expect(sent.slice(0, 4)).toEqual([
      patchAt(100, 'a', 0),
      readAt(10_200, 'a'),
      patchAt(10_220, 'a', 3),
      readAt(11_280, 'b'),
    ]);
    expect(sent.filter(({ name, replicas: count }) => name === 'b' && count === 0)).toEqual([]);
    expect(harness.model.get(refKey(b))).toMatchObject({ replicas: 3, annotations: {} });
  });

  const landing: Verdict = { kind: 'landing', renewed: 1, awaited: 2, until: 200_000 };

  it('landing ends a scale-down, and restores nothing yet', () => {
    const resources = [at(a, 0), at(b, 1, { initialDelayMs: 15_000 })];
    const harness = run({ resources, objects: [up(a), up(b)], verdictAt: verdicts(downVerdict, landing) });
    expect(harness.ends).toEqual([{ at: 10_200, flow: 1, end: 'cancelled' }]);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0)]);
  });

  it('landing ends a scale-up that has written nothing, and no other', () => {
    const [first, second] = [at(a, 0), at(b, 1, { initialDelayMs: 15_000 })];
    const verdictAt = verdicts(upVerdict, landing);
    const late = run({ resources: [second], objects: [held(b)], verdictAt });
    expect([late.ends, requestsIn(late.log)]).toEqual([[{ at: 10_200, flow: 1, end: 'cancelled' }], []]);
    const begun = run({ resources: [first, second], objects: [held(a), held(b)], verdictAt });
    expect(requestsIn(begun.log)).toEqual([patchAt(100, 'a', 3), patchAt(16_160, 'b', 3)]);
  });

  it('awaits a write in flight before it sends anything else', () => {
    const resources = [at(a, 0)];
    const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 14_000 : 20 });
    const options = { resources, objects: [up(a)], verdictAt: verdicts(downVerdict, upVerdict), fateOf };
    const harness = run(options);
    expect(harness.ends[0]).toEqual({ at: 14_100, flow: 1, end: 'cancelled' });
    expect(requestsIn(harness.log).slice(0, 3)).toEqual([
      patchAt(100, 'a', 0),
      readAt(14_100, 'a'),
      patchAt(14_120, 'a', 3),
    ]);
    expect(harness.model.get(refKey(a))).toMatchObject({ replicas: 3, annotations: {} });
  });

  it('ages from its own time: a scale-up that had to wait too long is left to the next run', () => {
    const resources = [at(a, 0)];
    const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 31_000 : 20 });
    const verdictAt = verdicts(downVerdict, upVerdict, undefined, undefined, undefined, upVerdict);
    const harness = run({ resources, objects: [up(a)], verdictAt, fateOf });
    expect(harness.ends[0]).toEqual({ at: 31_100, flow: 1, end: 'cancelled' });
    expect(harness.starts).toEqual([1, 2]);
    expect(requestsIn(harness.log).slice(1)).toEqual([readAt(50_600, 'a'), patchAt(50_620, 'a', 3)]);
    expect(harness.ends[1]).toMatchObject({ flow: 2, end: 'completed' });
  });

  it('ages from its own time for the levels of the new flow too', () => {
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

  it('reads first after a flow that does not know if its writes took effect: the watch may not show them', () => {
    // The timeout ends before the attempts are used up.
    const resources = [at(a, 0, { timeoutMs: 200 }), at(b, 1)];
    const lost = (index: number): RequestFate => {
      return index < 3 ? { latencyMs: 20, error: 'ConnectionError', landed: true } : { latencyMs: 20 };
    };
    const options = { resources, objects: [up(a), held(b)], watchLagMs: 60_000, fateOf: lost };
    const harness = run({ ...options, verdictAt: verdicts(downVerdict, upVerdict) }, 12_000);
    expect(harness.ends[0]).toMatchObject({ flow: 1, end: 'failed' });
    const sent = requestsIn(harness.log).filter((request) => request.at > 10_000);
    expect(sent[0]).toEqual(readAt(10_200, 'a'));
    expect(sent[1]).toEqual(patchAt(10_220, 'a', 3));
    // The same verdict again needs no read.
    const same = run({ ...options, verdictAt: verdicts(downVerdict) }, 12_000);
    expect(requestsIn(same.log)[3]).toEqual(patchAt(10_200, 'a', 0));
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

  it('in the same direction start no second flow', () => {
    for (const [verdict, objects] of [
      [downVerdict, [up(a), up(b)]],
      [upVerdict, [held(a), held(b)]],
    ] as const) {
      const harness = run({ ...slow, objects, verdictAt: () => verdict }, 60_000);
      expect(harness.ends).toMatchObject([{ flow: 1, end: 'completed' }]);
      expect(harness.log).toHaveLength(2);
    }
  });

  it.each([{ kind: 'skipped' }, { kind: 'confirming' }, failedVerdict] satisfies Verdict[])(
    'leave a flow as it is: $kind',
    (verdict) => {
      for (const [first, objects] of [
        [downVerdict, [up(a), up(b)]],
        [upVerdict, [held(a), held(b)]],
      ] as const) {
        const harness = run({ ...slow, objects, verdictAt: verdicts(first, verdict) }, 60_000);
        expect(harness.ends).toMatchObject([{ flow: 1, end: 'completed' }]);
        expect(harness.log).toHaveLength(2);
      }
    },
  );

  it('start no flow if there is nothing to do', () => {
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
    identity: 'test',
    snapshotOf: () => ({ kind: 'absent' }),
    resources: [],
    probeIntervalMs: 10_000,
    watchesInterruptedMs: 0,
    role: leader,
  });
  const initial: ShootProberState = { probe: emptyProbeMemory, nextRunAt: 5_000, runUnderWay: false, flows: 0 };
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
    expect(broke).toMatchObject({ effects: [], wakeAt: 16_000, state: { runUnderWay: false } });
  });

  it('end with the prober', () => {
    const { state } = advanceShoot(initial, [], context(5_000));
    const stopped = advanceShoot(state, [{ kind: 'stop', releasePolicy: 'nothing' }], context(6_000));
    expect(stopped).toMatchObject({ effects: [{ kind: 'abort-run' }], state: { ended: 'done' } });
    const before = advanceShoot(initial, [{ kind: 'stop', releasePolicy: 'nothing' }], context(6_000));
    expect(before).toMatchObject({ effects: [], state: { ended: 'done' } });
    const late = advanceShoot(stopped.state, [ended(7_000)], context(6_500));
    expect(late.effects).toEqual([]);
  });

  it('ignore responses to flows that have ended', () => {
    const error = new ApiError({ code: 'ServerError', message: 'x' });
    const answer = { key: 'x', result: { ok: false, error } } as const;
    const step = advanceShoot(initial, [{ kind: 'responded', flow: 7, response: answer }], context(1_000));
    expect(step.state).toEqual(initial);
  });
});

it('a response to another flow is ignored', () => {
  const resources = [at(a, 0)];
  const harness = new SeedHarness({ resources, objects: [up(a)], verdictAt: once(downVerdict) });
  harness.runUntil(105);
  const state = harness.state();
  expect(state.flow?.operations).toMatchObject([{ phase: { kind: 'writing' } }]);
  const error = new ApiError({ code: 'Forbidden', message: 'x' });
  const answer = { key: refKey(a), result: { ok: false, error } } as const;
  const context = {
    now: 105,
    wallNow: 105,
    identity: 'test',
    snapshotOf: () => ({ kind: 'unknown' }) as const,
    resources,
    probeIntervalMs: 10_000,
    watchesInterruptedMs: 0,
    role: leader,
  };
  const other = advanceShoot(state, [{ kind: 'responded', flow: 7, response: answer }], context);
  expect(other.state.flow?.operations).toMatchObject([{ phase: { kind: 'writing' } }]);
  const own = advanceShoot(state, [{ kind: 'responded', flow: 1, response: answer }], context);
  expect(own.effects).toMatchObject([{ kind: 'flow-ended', end: 'failed' }]);
});

describe('a standby whose verdict is older than a restoration of the leader', () => {
  const role: Role = { leads: false, isHotStandby: true, leaderSilentMs: 0, silenceLimitMs: 5_000 };
  const resources = [at(a, 0), at(b, 1)];
  const contextWith = (now: number, heldRefs: readonly ResourceRef[]): ShootContext => ({
    now,
    wallNow: now,
    identity: 'test',
    snapshotOf: (key) => {
      const isAHeld = heldRefs.some((ref) => refKey(ref) === key);
      return { kind: 'state', state: stateOf(isAHeld ? held(a) : up(a)) };
    },
    resources,
    probeIntervalMs: 10_000,
    watchesInterruptedMs: 0,
    role,
  });
  // The leader could not scale b down: an annotation prevented it until now.
  const context = (now: number, isAHeld: boolean): ShootContext => contextWith(now, isAHeld ? [a] : []);
  const judged = (now: number): ShootEvent => ({
    kind: 'run-ended',
    decision: {
      verdict: downVerdict,
      reason: '',
      nextRunAt: now + 10_000,
      memory: emptyProbeMemory,
      hasObservedRenewals: true,
    },
  });
  const initial: ShootProberState = { probe: emptyProbeMemory, nextRunAt: 5_000, runUnderWay: true, flows: 0 };
  const started = (effects: ReturnType<typeof advanceShoot>['effects']): readonly string[] =>
    effects.map(({ kind }) => kind).filter((kind) => kind === 'flow-started');

  it('scales nothing down on it, nor on a run that had begun before', () => {
    const waiting = advanceShoot(initial, [judged(10_000)], context(10_000, true));
    expect([started(waiting.effects), waiting.state.pending?.direction]).toEqual([[], 'down']);
    const restored = advanceShoot(waiting.state, [], context(17_000, false));
    expect([started(restored.effects), restored.state.pending]).toEqual([[], undefined]);
    const late = advanceShoot({ ...restored.state, runUnderWay: true }, [judged(18_000)], context(18_000, false));
    expect(started(advanceShoot(late.state, [], context(20_000, false)).effects)).toEqual([]);
  });

  it.each([
    ['between the restorations', [b]],
    ['after the restorations', []],
  ])('scales nothing down on it when it becomes leader %s', (_, stillHeld) => {
    const waiting = advanceShoot(initial, [judged(10_000)], contextWith(10_000, [a, b]));
    const leading = { ...contextWith(17_000, stillHeld), role: leader };
    const { effects } = advanceShoot({ ...waiting.state, runUnderWay: true }, [], leading);
    expect(started(effects)).toEqual([]);
    const judgedAnew = advanceShoot({ ...waiting.state, runUnderWay: true }, [judged(17_000)], leading);
    expect(started(judgedAnew.effects)).toEqual(['flow-started']);
  });

  it('protects the shoot when the restoration is long enough ago', () => {
    const { state } = advanceShoot({ ...initial, heldCount: 1 }, [], context(17_000, false));
    const again = advanceShoot({ ...state, runUnderWay: true }, [judged(28_000)], context(28_000, false));
    expect(started(advanceShoot(again.state, [], context(29_000, false)).effects)).toEqual(['flow-started']);
  });
});
