import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import type { ReleasePolicy } from '../clusters/lifecycle.ts';
import { emptyProbeMemory, type Verdict } from '../judge/judgement.ts';
import {
  type ObjectInit,
  dependent,
  deployment,
  downVerdict,
  failedVerdict,
  heldObject,
  objectOf,
  stateOf,
  upVerdict,
} from '../testing/resources.ts';
import {
  type Effect,
  type ShootContext,
  type ShootEvent,
  advanceShoot,
  initialState,
  mayWriteNow,
} from './advance-shoot.ts';
import { type Role, leader } from './desired.ts';
import type { ActionResponse } from './operation.ts';

const standby: Role = { leads: false, mayStandIn: true };
const idle: Role = { leads: false, mayStandIn: false };
const [a, b] = [deployment('a'), deployment('b')] as const;
const up = (ref: ResourceRef): ObjectInit => objectOf(ref, { replicas: 3 });
/** Held, but another writer has scaled it up. */
const contested = (ref: ResourceRef): ObjectInit => ({ ...heldObject(ref), replicas: 2, ready: 2, version: 3 });
const written = (object: ObjectInit): ObjectInit => ({ ...object, version: 2 });
const [downA, downB, upA] = [written(heldObject(a)), written(heldObject(b)), written(up(a))] as const;
const allUp = [up(a), up(b)];
const allHeld = [heldObject(a), heldObject(b)];
const [halfDown, allDown, halfUp] = [
  [downA, up(b)],
  [downA, downB],
  [upA, heldObject(b)],
];
const refused = new ApiError({ code: 'Invalid', message: 'no' });
const nameOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

const judged = (verdict: Verdict, nextRunAt = Number.POSITIVE_INFINITY): ShootEvent => ({
  kind: 'run-ended',
  decision: { verdict, reason: '', nextRunAt, memory: emptyProbeMemory },
});
const stop = (releasePolicy: ReleasePolicy): ShootEvent => ({ kind: 'stop', end: { releasePolicy, reason: 'test' } });
const crossedAt = (at: number): Verdict => ({ kind: 'unhealthy', crossedAt: at, graceEndsAt: at + 10_000 });
const landing: Verdict = { kind: 'landing', renewed: 1, awaited: 2, late: [], latest: 200_000 };

const textOf = (effect: Effect): string => {
  if (effect.kind === 'send') return `${effect.action.kind} ${nameOf(effect.action.key)}`;
  if (effect.kind === 'scaling-started') return effect.scaling.direction;
  return effect.kind === 'scaling-ended' ? (effect.scaling.rest?.end ?? 'dropped') : effect.kind;
};

/** The loop of a shoot whose resources `a` and `b` are on two levels. Its first run is due at 0. */
const createLoop = (changes: Partial<ShootContext> = {}) => {
  let state = initialState({ probe: emptyProbeMemory, nextRunAt: 0 });
  let context = changes;
  const inFlight = new Set<string>();
  const resources = [a, b].map((ref, level) => dependent(ref, { up: { level }, down: { level } }));
  const contextAt = (now: number, objects: readonly ObjectInit[]): ShootContext => {
    const byKey = new Map(objects.map((object) => [refKey(object.ref), object]));
    return {
      now,
      wallNow: now,
      holder: { by: 'test' },
      snapshotOf: (key) => ({ kind: 'state', state: stateOf(byKey.get(key) ?? up(a)) }),
      resources,
      probeIntervalMs: 10_000,
      mustRead: false,
      role: leader,
      inFlight,
      ...context,
    };
  };
  /** Steps while the watches show these objects. Returns the effects. */
  const step = (now: number, objects: readonly ObjectInit[], ...events: readonly ShootEvent[]): readonly string[] => {
    const stepped = advanceShoot(state, events, contextAt(now, objects));
    ({ state } = stepped);
    for (const effect of stepped.effects) if (effect.kind === 'send') inFlight.add(effect.action.key);
    return stepped.effects.map(textOf);
  };
  /** Steps with the response to the request in flight. */
  const respond = (now: number, response: ActionResponse, objects: readonly ObjectInit[]): readonly string[] => {
    inFlight.delete(response.key);
    return step(now, objects, { kind: 'responded', response });
  };
  return {
    step,
    answer: (now: number, object: ObjectInit, objects: readonly ObjectInit[]) =>
      respond(now, { key: refKey(object.ref), result: { ok: true, value: stateOf(object) } }, objects),
    refuse: (now: number, ref: ResourceRef, objects: readonly ObjectInit[]) =>
      respond(now, { key: refKey(ref), result: { ok: false, error: refused } }, objects),
    change: (next: Partial<ShootContext>) => (context = { ...context, ...next }),
    state: () => state,
    mayWrite: (now: number): boolean => mayWriteNow(state, contextAt(now, allUp)),
  };
};

/** A loop whose first run ends at 100 ms with this verdict, and what it does then. */
const begin = (verdict: Verdict, objects: readonly ObjectInit[], changes?: Partial<ShootContext>) => {
  const loop = createLoop(changes);
  expect(loop.step(0, objects)).toEqual(['start-run']);
  return { ...loop, did: loop.step(100, objects, judged(verdict)) };
};

describe('runs', () => {
  it('start when they are due, one at a time', () => {
    const { step, state } = createLoop();
    expect(step(0, allUp)).toEqual(['start-run']);
    expect(step(50_000, allUp)).toEqual([]);
    expect(step(50_000, allUp, judged({ kind: 'skipped' }, 60_000))).toEqual([]);
    expect(state().dueAt).toBe(60_000);
    expect(step(59_999, allUp)).toEqual([]);
    expect(step(60_000, allUp)).toEqual(['start-run']);
  });

  it('that threw an error are followed by others', () => {
    const { step } = createLoop();
    step(0, allUp);
    expect(step(1_000, allUp, { kind: 'run-aborted', nextRunAt: 11_000 })).toEqual([]);
    expect(step(11_000, allUp)).toEqual(['start-run']);
  });

  it('end with the prober', () => {
    const { step, state } = createLoop();
    step(0, allUp);
    expect(step(1_000, allUp, stop('nothing'))).toEqual(['abort-run']);
    expect(state().ended).toBe(true);
    expect(step(1_500, allUp, judged(downVerdict, 2_000))).toEqual([]);
    expect(step(2_000, allUp)).toEqual([]);
  });
});

type Cause = Extract<ShootEvent, { kind: 'address-unreachable' | 'kubeconfig-changed' }>['kind'];
const throttled = { ...failedVerdict, failure: 'throttled' } as const;

it.each<[what: string, verdict: Verdict, kind: Cause, did: readonly string[]]>([
  ['the public address cannot be reached', upVerdict, 'address-unreachable', ['start-run']],
  ['it cannot be reached, unless the API server asked for a back-off', throttled, 'address-unreachable', []],
  ['the kubeconfig has changed after a failed run', failedVerdict, 'kubeconfig-changed', ['start-run']],
  ['it has changed after another', upVerdict, 'kubeconfig-changed', []],
])('the next run starts at once if %s', (_, verdict, kind, did) => {
  const { step } = createLoop();
  step(0, allUp);
  step(100, allUp, judged(verdict, 10_100));
  expect(step(1_000, allUp, { kind })).toEqual(did);
});

it('the next step is due when a standby may act, when an outage is late, and when a resource may be scaled again', () => {
  const dueAfter = (verdict: Verdict, role: ShootContext['role']) => begin(verdict, allUp, { role }).state().dueAt;
  expect(dueAfter(crossedAt(100), standby)).toBe(3_100);
  expect(dueAfter(crossedAt(100), idle)).toBe(5_100);
  expect(dueAfter(upVerdict, standby)).toBe(Number.POSITIVE_INFINITY);
  const { step, answer, state } = begin(downVerdict, allUp);
  answer(200, downA, halfDown);
  answer(300, downB, allDown);
  expect([step(400, allDown), state().dueAt]).toEqual([[], 1_300]);
});

describe('a verdict', () => {
  it('ends an opposite scaling at once: its write in flight is awaited, and then the resource is read', () => {
    const { step, answer, did } = begin(downVerdict, allUp);
    expect(did).toEqual(['down', 'write a']);
    expect(step(5_000, allUp, judged(upVerdict))).toEqual(['dropped', 'up']);
    expect(answer(6_000, downA, halfDown)).toEqual(['read a']);
    expect(answer(6_020, downA, halfDown)).toEqual(['write a']);
  });

  it('starts the opposite of a scaling that has just failed at once', () => {
    const { step, refuse } = begin(upVerdict, allHeld);
    expect(refuse(300, a, allHeld)).toEqual(['failed']);
    expect(step(400, [up(a), heldObject(b)], judged(downVerdict))).toEqual(['down', 'write a']);
  });

  it('landing ends a scale-down, and a scale-up that has written nothing, and no other', () => {
    expect(begin(downVerdict, allUp).step(5_000, allUp, judged(landing))).toEqual(['dropped']);
    const { step, answer, did } = begin(upVerdict, allHeld);
    expect([did, step(5_000, allHeld, judged(landing))]).toEqual([['up', 'write a'], ['dropped']]);
    const begun = begin(upVerdict, allHeld);
    expect(begun.answer(150, upA, halfUp)).toEqual(['write b']);
    expect(begun.step(5_000, halfUp, judged(landing))).toEqual([]);
    expect(answer(6_000, upA, halfUp)).toEqual([]);
  });

  it.each([{ kind: 'skipped' }, { kind: 'confirming' }, failedVerdict, downVerdict] satisfies Verdict[])(
    '$kind leaves a scale-down as it is',
    (verdict) => {
      const { step, answer } = begin(downVerdict, allUp);
      expect(step(2_000, allUp, judged(verdict))).toEqual([]);
      expect(answer(2_020, downA, halfDown)).toEqual(['write b']);
    },
  );
});

describe('the end of probing', () => {
  it.each<[ReleasePolicy, readonly string[]]>([
    ['restore', ['up', 'write a']],
    ['release', ['release', 'write a', 'write b']],
    ['nothing', []],
  ])('with policy %s gives back what is held: %j', (policy, effects) => {
    const { step, state } = begin(failedVerdict, allHeld);
    expect(step(1_000, allHeld, stop(policy))).toEqual(effects);
    expect(state().ended).toBe(policy === 'nothing' ? true : undefined);
    const nothing = begin(failedVerdict, [up(a), objectOf(b, { replicas: 0 })]);
    expect(nothing.step(1_000, [up(a), objectOf(b, { replicas: 0 })], stop(policy))).toEqual([]);
    expect(nothing.state().ended).toBe(true);
  });

  it.each<[first: ReleasePolicy, next: ReleasePolicy, readonly string[]]>([
    ['restore', 'release', ['dropped', 'release', 'write b']],
    ['restore', 'nothing', ['dropped']],
    ['release', 'release', []],
  ])('restores less if a later state of the Cluster asks for it: %s, then %s', (policy, next, effects) => {
    const { step } = begin(failedVerdict, allHeld);
    step(1_000, allHeld, stop(policy));
    expect(step(2_000, allHeld, stop(next))).toEqual(effects);
  });

  it('comes when the write in flight has its response', () => {
    const { step, answer, state } = begin(downVerdict, allUp);
    expect(step(1_000, allUp, stop('nothing'))).toEqual(['dropped']);
    expect(state().ended).toBeUndefined();
    answer(3_000, downA, halfDown);
    expect(state().ended).toBe(true);
  });

  it('ignores verdicts', () => {
    const { step } = begin(failedVerdict, allHeld);
    step(1_000, allHeld, stop('restore'));
    expect(step(2_000, allHeld, judged(downVerdict))).toEqual([]);
  });

  it('that is taken back is followed by a run at once, whose verdict decides', () => {
    const { step } = begin(failedVerdict, allHeld);
    step(1_000, allHeld, stop('restore'));
    expect(step(1_100, allHeld, { kind: 'resume' })).toEqual(['dropped', 'start-run']);
    expect(step(1_200, allHeld)).toEqual([]);
  });
});

describe('a pause', () => {
  it('forbids a scale-down, and its end is followed by a run at once', () => {
    const { step, did, change, state } = begin(downVerdict, allUp, { pausedUntil: 36_000 });
    expect([did, state().dueAt]).toEqual([[], 36_000]);
    change({ pausedUntil: undefined });
    expect(step(36_000, allUp)).toEqual(['start-run']);
    expect(step(36_100, allUp, judged(downVerdict))).toEqual(['down', 'write a']);
  });

  it('that ends while runs fail is followed by a scale-down on a recent verdict, and by none on an older one', () => {
    const endOfPause = (at: number): readonly string[] => {
      const { step, change } = begin(downVerdict, allUp);
      change({ pausedUntil: at });
      expect(step(1_000, halfDown)).toEqual(['dropped']);
      step(at - 1_000, halfDown, judged(failedVerdict));
      change({ pausedUntil: undefined });
      return step(at, halfDown);
    };
    expect(endOfPause(20_000)).toEqual(['down']);
    expect(endOfPause(30_001)).toEqual([]);
  });

  it('that begins during a scale-down ends it, and lets a restoration go on', () => {
    const loop = begin(downVerdict, allUp);
    loop.change({ pausedUntil: Number.POSITIVE_INFINITY });
    expect(loop.step(1_000, allUp)).toEqual(['dropped']);
    expect(begin(upVerdict, allHeld, { pausedUntil: Number.POSITIVE_INFINITY }).did).toEqual(['up', 'write a']);
  });

  it('gives the leader its time after its end, before a standby acts', () => {
    const { step, change } = begin(downVerdict, allUp, { role: standby, pausedUntil: 8_000 });
    change({ pausedUntil: undefined });
    expect(step(8_000, allUp, judged(downVerdict))).toEqual(['start-run']);
    expect(step(10_999, allUp, judged(downVerdict))).toEqual([]);
    expect(step(11_000, allUp)).toEqual(['down', 'write a']);
  });
});

describe('what comes up after the verdict of a standby', () => {
  const half = [up(a), heldObject(b)];
  const settings = { role: standby, probeIntervalMs: 30_000 };

  it('is left to the leader while runs fail, and looked at again at once', () => {
    const { step } = begin(downVerdict, allHeld, settings);
    expect([step(2_000, half), step(5_000, half, judged(failedVerdict)), step(14_000, half)]).toEqual([
      ['start-run'],
      [],
      [],
    ]);
    expect(step(15_000, half, judged(downVerdict))).toEqual(['down', 'write a']);
  });

  it('is left to the leader, too, while another is refused and stays up', () => {
    const { step, refuse } = begin(downVerdict, half, settings);
    expect([step(3_000, half), refuse(3_100, a, half)]).toEqual([['down', 'write a'], []]);
    expect([step(4_000, allUp), step(4_100, allUp, judged(downVerdict))]).toEqual([['dropped', 'start-run'], []]);
    expect(step(7_000, allUp)).toEqual(['down', 'write a']);
  });

  it('during a run is left to the leader until a run that begins later finds the outage', () => {
    const { step } = begin(downVerdict, allHeld, settings);
    step(200, allHeld, { kind: 'address-unreachable' });
    expect([step(1_000, half), step(4_500, half, judged(downVerdict))]).toEqual([[], ['start-run']]);
    expect(step(4_600, half, judged(downVerdict))).toEqual(['down', 'write a']);
  });
});

it('a standby acts on what the leader has left up for 3 s, also in a run of failures, and never beside the Go program', () => {
  const crossed = crossedAt(100);
  const { step, did } = begin(crossed, allUp, { role: standby });
  expect([did, step(2_000, allUp, judged(failedVerdict)), step(3_099, allUp)]).toEqual([[], [], []]);
  expect(step(3_100, allUp)).toEqual(['down', 'write a']);
  const beside = begin(crossed, allUp, { role: idle });
  expect(beside.step(9_000, allUp)).toEqual([]);
});

it('a scale-down, after the process was suspended, sends nothing more until a verdict confirms it', () => {
  const { step, answer, state } = begin(downVerdict, allUp);
  expect(answer(14_000, downA, halfDown)).toEqual(['start-run']);
  expect(state().desired?.isDoubtful).toBe(true);
  expect(step(14_100, halfDown, judged(downVerdict))).toEqual(['write b']);
});

it('a write that waited for its turn while the process was suspended is not sent, even before the next step', () => {
  const { mayWrite, state } = begin(downVerdict, allUp);
  const { dueAt } = state();
  expect([mayWrite(dueAt + 10_000), mayWrite(dueAt + 10_001)]).toEqual([true, false]);
});

it('a standby leaves the leader a second after its own verdict, however long ago the threshold was crossed', () => {
  const { step } = createLoop({ role: standby });
  step(0, allUp);
  expect(step(20_000, allUp, judged(crossedAt(5_000)))).toEqual([]);
  expect(step(20_999, allUp)).toEqual([]);
  expect(step(21_000, allUp)).toEqual(['down', 'write a']);
});

it('while runs fail, another writer is undone also on an old verdict: the scale-down has begun', () => {
  const { step, answer } = begin(downVerdict, allUp);
  answer(200, downA, halfDown);
  answer(300, downB, allDown);
  // Steps as often as in the loop: a longer gap looks like a suspension.
  for (let at = 10_000; at <= 40_000; at += 10_000) step(at, allDown, judged(failedVerdict));
  expect(step(40_001, [contested(a), downB])).toEqual(['down', 'write a']);
});

describe('a verdict is used for one restoration', () => {
  it('also if it confirmed one that has failed: the next run goes on', () => {
    const { step, answer } = begin(upVerdict, allHeld);
    expect(answer(200, upA, halfUp)).toEqual(['write b']);
    step(5_000, halfUp, judged(upVerdict));
    // A standby has seen another outage.
    const again = [{ ...heldObject(a), version: 3 }, heldObject(b)] as const;
    expect(answer(6_000, heldObject(b), again)).toEqual(['failed']);
    expect([step(9_000, again), step(12_000, again)]).toEqual([[], []]);
    expect(step(15_000, again, judged(upVerdict))).toEqual(['up', 'write a']);
  });

  it('and one that comes while a failed one rests is used as soon as that has rested', () => {
    const { step, refuse, state } = begin(upVerdict, allHeld);
    expect(refuse(300, a, allHeld)).toEqual(['failed']);
    expect(step(400, allHeld, judged(upVerdict))).toEqual([]);
    expect(state().dueAt).toBe(1_300);
    expect(step(1_300, allHeld)).toEqual(['up', 'write a']);
  });
});

it('while a watch is interrupted, a scale-down reads also what the watch shows as held', () => {
  const { did } = begin(downVerdict, allHeld, { mustRead: true });
  expect(did).toEqual(['down', 'read a']);
});

it('a newer verdict tries again what could not be scaled down, while others settle', () => {
  const { step, answer, refuse } = begin(downVerdict, allUp);
  const stopping = { ...downA, ready: 1 };
  const seen = [stopping, up(b)];
  answer(200, stopping, seen);
  expect(step(3_100, seen)).toEqual(['write b']);
  step(3_150, seen, judged(failedVerdict));
  expect(refuse(23_200, b, seen)).toEqual(['start-run']);
  expect(step(23_300, seen, judged(downVerdict))).toEqual(['write b']);
});

it('another writer that scales up what is held is undone at once, once in a second, and left to the next verdict in a restoration', () => {
  const { step } = begin(downVerdict, allHeld);
  const objects = [contested(a), heldObject(b)];
  expect(step(2_000, objects)).toEqual(['down', 'write a']);
  const restored = begin(upVerdict, allUp);
  expect([restored.did, restored.step(2_000, [objectOf(a, { replicas: 0 }), up(b)])]).toEqual([[], []]);
});
