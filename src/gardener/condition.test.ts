import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Condition,
  type ConditionChange,
  decodeConditions,
  findCondition,
  mergeConditions,
  newCondition,
  updateCondition,
} from './condition.ts';

const now = Date.parse('2026-11-21T06:00:00.700Z');
const nowText = '2026-11-21T06:00:00Z';
const transition = '2026-11-20T10:00:00Z';
const update = '2026-11-20T11:00:00Z';

const old: Condition = {
  type: 'ControlPlaneHealthy',
  status: 'False',
  lastTransitionTime: transition,
  lastUpdateTime: update,
  reason: 'EtcdUnhealthy',
  message: 'Etcd extension resource "etcd-main" is unhealthy.',
  codes: ['ERR_CONFIGURATION_PROBLEM'],
};
const initialMessage = 'The condition has been initialized but its semantic check has not been performed yet.';

const change = (given: ConditionChange, from: Condition | undefined = old) =>
  updateCondition({ type: 'ControlPlaneHealthy', old: from }, given, now);

it('a new condition is Unknown, and its message is that nothing has been checked', () => {
  expect(newCondition('EveryNodeReady', now)).toEqual({
    type: 'EveryNodeReady',
    status: 'Unknown',
    reason: 'ConditionInitialized',
    message: initialMessage,
    lastTransitionTime: nowText,
    lastUpdateTime: nowText,
  });
  expect(() => newCondition('', now)).toThrow(new RangeError('condition: the type must not be empty'));
});

describe('updating', () => {
  const { codes, ...bare } = old;

  it.each<[what: string, given: ConditionChange, from: Partial<Condition>, becomes: Partial<Condition>]>([
    ['an empty old status', {}, { status: '' }, { status: 'Unknown', lastTransitionTime: nowText }],
    ['an empty reason', { reason: '' }, {}, { reason: 'Unspecified', lastUpdateTime: nowText }],
    ['an empty message', { message: '' }, {}, { message: 'No message given.', lastUpdateTime: nowText }],
    [
      'empty old texts and times',
      {},
      { reason: '', message: '', lastTransitionTime: '', lastUpdateTime: '' },
      {
        ...{ reason: 'ConditionInitialized', message: initialMessage },
        ...{ lastTransitionTime: nowText, lastUpdateTime: nowText },
      },
    ],
  ])('%s', (_what, given, from, becomes) => {
    expect(change({ codes, ...given }, { ...old, ...from })).toEqual({ ...old, ...becomes });
  });

  it('treats absent codes like an empty list', () => {
    for (const stored of [bare, { ...bare, codes: [] }]) expect(change({ codes: [] }, stored)).toBe(stored);
  });

  it('cuts a message that is too long for a condition of Kubernetes, always in the same way', () => {
    const long = (length: number) => change({ message: 'x'.repeat(length) }).message;
    expect([long(32_768).length, long(32_769).length, long(5_000_000)]).toEqual([32_768, 32_768, long(32_769)]);
    expect(long(32_769).endsWith('x...')).toBe(true);
    const cut = change({ message: 'x'.repeat(40_000) });
    expect(change({ message: 'x'.repeat(40_000) }, cut)).toBe(cut);
  });
});

const text = fc.constantFrom('', 'a', 'b');
const status = fc.constantFrom('True', 'False', 'Unknown', 'Progressing');
const codes = fc.subarray(['ERR_A', 'ERR_B', 'ERR_C']);
const time = fc.integer({ min: 0, max: 10_000 }).map((seconds) => seconds * 1_000);
const given: fc.Arbitrary<ConditionChange> = fc.record(
  { status, reason: text, message: text, codes },
  { requiredKeys: [] },
);

const steps = fc.array(fc.tuple(given, time), { minLength: 1, maxLength: 8 });

it('a history of updates moves each time exactly when its fields differ, has the codes of its last step, and no empty field', () => {
  fc.assert(
    fc.property(steps, (history) => {
      let before: Condition | undefined;
      let clock = now;
      for (const [step, pause] of history) {
        clock += pause;
        const updated = updateCondition({ type: 'X', old: before }, step, clock);
        const moved = new Date(Math.floor(clock / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
        const textMoves =
          before?.reason !== updated.reason ||
          before.message !== updated.message ||
          (before.codes ?? []).join() !== (updated.codes ?? []).join();
        expect(updated.lastTransitionTime).toBe(before?.status === updated.status ? before.lastTransitionTime : moved);
        expect(updated.lastUpdateTime).toBe(textMoves ? moved : before?.lastUpdateTime);
        expect(updated === before).toBe(isDeepStrictEqual(before, updated));
        expect(updated.codes ?? []).toEqual(step.codes ?? []);
        expect(Object.values({ ...updated, codes: undefined })).not.toContain('');
        expect(updateCondition({ type: 'X', old: updated }, step, clock + pause)).toBe(updated);
        before = updated;
      }
    }),
  );
});

describe('stored conditions', () => {
  it('are read unchanged, with missing fields empty', () => {
    const conditions = [
      { type: 'A', status: 'Foo', lastTransitionTime: null, codes: [] },
      { ...old, other: 1 },
    ];
    expect(decodeConditions({ conditions }, 'status')).toEqual([
      { type: 'A', status: 'Foo', lastTransitionTime: '', lastUpdateTime: '', reason: '', message: '' },
      old,
    ]);
  });

  it.each([
    [{ conditions: ['x'] }, 'status.conditions[0]: expected an object, found a string'],
    [{ conditions: [{ type: 'A', codes: [1] }] }, 'status.conditions[0].codes[0]: expected a string, found a number'],
  ])('%j is refused', (stored, problem) => {
    expect(() => decodeConditions(stored, 'status')).toThrow(problem);
  });

  it('are found by type: the first, if there are two', () => {
    const conditions = [old, { ...old, reason: 'Second' }];
    expect(findCondition(conditions, old.type)).toBe(old);
    expect(findCondition(conditions, 'constructor')).toBeUndefined();
  });
});

const fresh = (type: string, reason = 'New'): Condition => ({ ...newCondition(type, now), reason });

describe('merging', () => {
  it('replaces also conditions of the fresh types that it does not own', () => {
    expect(mergeConditions([fresh('B', 'Old'), fresh('A')], [fresh('B')], [])).toEqual([fresh('A'), fresh('B')]);
  });

  const owned = ['A', 'B', 'C'];
  const anyType = fc.constantFrom(...owned, 'Theirs', 'Another', 'constructor');
  const list = fc.array(
    fc.tuple(anyType, fc.string()).map(([type, reason]) => fresh(type, reason)),
    { maxLength: 8 },
  );
  const ownedList = fc.uniqueArray(fc.constantFrom(...owned)).map((types) => types.map((type) => fresh(type)));
  const isOwned = ({ type }: Condition): boolean => owned.includes(type);

  it('keeps foreign types in their order, has each fresh condition once, and does nothing a second time', () => {
    fc.assert(
      fc.property(list, ownedList, (stored, added) => {
        const merged = mergeConditions(stored, added, owned);
        const foreign = (all: readonly Condition[]) => all.filter((one) => !isOwned(one));
        expect(foreign(merged)).toEqual(foreign(stored));
        // An owned type without a fresh condition is dropped, as in a Shoot without workers.
        expect(merged.filter(isOwned)).toEqual(added);
        expect(mergeConditions(merged, added, owned)).toEqual(merged);
      }),
    );
  });
});
