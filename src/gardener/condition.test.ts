import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError } from '../kubernetes/api/decode.ts';
import {
  type Condition,
  type ConditionChange,
  decodeConditions,
  findCondition,
  mergeConditions,
  newCondition,
  sameCondition,
  sameConditions,
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
/** A change that sets every field to its value in `old`. */
const same = {
  status: 'False',
  reason: old.reason,
  message: old.message,
  codes: ['ERR_CONFIGURATION_PROBLEM'],
} as const satisfies ConditionChange;
const initialMessage = 'The condition has been initialized but its semantic check has not been performed yet.';

const change = (given: ConditionChange, from: Condition | undefined = old) =>
  updateCondition({ type: 'ControlPlaneHealthy', old: from }, given, now);

describe('a new condition', () => {
  it('is Unknown, and its message is that nothing has been checked', () => {
    expect(newCondition('EveryNodeReady', now)).toEqual({
      type: 'EveryNodeReady',
      status: 'Unknown',
      reason: 'ConditionInitialized',
      message: initialMessage,
      lastTransitionTime: nowText,
      lastUpdateTime: nowText,
    });
  });

  it('has the fields that are given', () => {
    expect(updateCondition({ type: 'X' }, { status: 'True', reason: 'R', message: 'M', codes: ['A'] }, now)).toEqual({
      type: 'X',
      status: 'True',
      reason: 'R',
      message: 'M',
      codes: ['A'],
      lastTransitionTime: nowText,
      lastUpdateTime: nowText,
    });
  });

  it('must have a type', () => {
    expect(() => newCondition('', now)).toThrow(new RangeError('condition: the type must not be empty'));
  });
});

describe('updating', () => {
  interface Row {
    readonly what: string;
    readonly given: ConditionChange;
    readonly from?: Partial<Condition>;
    readonly becomes: Partial<Condition>;
    readonly changed?: boolean;
  }
  const rows: readonly Row[] = [
    { what: 'the same in every field', given: same, becomes: {}, changed: false },
    {
      what: 'another status alone',
      given: { ...same, status: 'True' },
      becomes: { status: 'True', lastTransitionTime: nowText },
    },
    {
      what: 'no status',
      given: { reason: old.reason, message: old.message, codes: same.codes },
      becomes: {},
      changed: false,
    },
    {
      what: 'no status if the old one is empty',
      given: { reason: old.reason, message: old.message, codes: same.codes },
      from: { status: '' },
      becomes: { status: 'Unknown', lastTransitionTime: nowText },
    },
    {
      what: 'another reason alone',
      given: { ...same, reason: 'R' },
      becomes: { reason: 'R', lastUpdateTime: nowText },
    },
    {
      what: 'another message alone',
      given: { ...same, message: 'M' },
      becomes: { message: 'M', lastUpdateTime: nowText },
    },
    { what: 'other codes alone', given: { ...same, codes: ['A'] }, becomes: { codes: ['A'], lastUpdateTime: nowText } },
    {
      what: 'more codes',
      given: { ...same, codes: [...same.codes, 'Z'] },
      becomes: { codes: [...same.codes, 'Z'], lastUpdateTime: nowText },
    },
    {
      what: 'an empty reason',
      given: { ...same, reason: '' },
      becomes: { reason: 'Unspecified', lastUpdateTime: nowText },
    },
    {
      what: 'an empty message',
      given: { ...same, message: '' },
      becomes: { message: 'No message given.', lastUpdateTime: nowText },
    },
    {
      what: 'no reason and no message if the old ones are empty',
      given: { status: 'False', codes: same.codes },
      from: { reason: '', message: '' },
      becomes: { reason: 'ConditionInitialized', message: initialMessage, lastUpdateTime: nowText },
    },
    {
      what: 'everything else',
      given: { status: 'True', reason: 'R', message: 'M', codes: ['A'] },
      becomes: {
        status: 'True',
        reason: 'R',
        message: 'M',
        codes: ['A'],
        lastTransitionTime: nowText,
        lastUpdateTime: nowText,
      },
    },
    {
      what: 'the same if the times are missing',
      given: same,
      from: { lastTransitionTime: '', lastUpdateTime: '' },
      becomes: { lastTransitionTime: nowText, lastUpdateTime: nowText },
    },
  ];

  it.each(rows)('$what', ({ given, from = {}, becomes, changed = true }) => {
    const before = { ...old, ...from };
    const updated = change(given, before);
    expect([updated, updated !== before]).toEqual([{ ...old, ...becomes }, changed]);
  });

  it('never inherits codes', () => {
    const condition = change({ status: 'False', reason: old.reason, message: old.message });
    expect(condition).not.toHaveProperty('codes');
    expect(condition.lastUpdateTime).toBe(nowText);
  });

  it('treats absent codes like an empty list', () => {
    const { codes: _, ...without } = old;
    for (const stored of [without, { ...without, codes: [] }]) {
      expect(change({ ...same, codes: [] }, stored)).toBe(stored);
    }
  });

  it('cuts a message that is too long for a condition of Kubernetes, always in the same way', () => {
    const long = (length: number) => change({ message: 'x'.repeat(length) }).message;
    expect([long(32_768).length, long(32_769).length, long(5_000_000)]).toEqual([32_768, 32_768, long(32_769)]);
    expect(long(32_769).endsWith('x...')).toBe(true);
    const cut = change({ ...same, message: 'x'.repeat(40_000) });
    expect(change({ ...same, message: 'x'.repeat(40_000) }, cut)).toBe(cut);
  });

  it('keeps fields that are not given', () => {
    const condition = change({ status: 'True', codes: same.codes });
    expect(condition).toEqual({ ...old, status: 'True', lastTransitionTime: nowText });
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

describe('a history of updates', () => {
  const steps = fc.array(fc.tuple(given, time), { minLength: 1, maxLength: 8 });

  /** Every condition of the history, with the one before it. */
  const follow = (history: readonly (readonly [ConditionChange, number])[]) => {
    let last: Condition | undefined;
    let clock = now;
    return history.map(([step, pause]) => {
      clock += pause;
      const before = last;
      const updated = updateCondition({ type: 'X', old: before }, step, clock);
      last = updated;
      return { before, step, updated, at: clock };
    });
  };

  it('sets each timestamp to the current time exactly when its fields differ', () => {
    fc.assert(
      fc.property(steps, (history) => {
        for (const { before, updated, at } of follow(history)) {
          const condition = updated;
          const moved = new Date(Math.floor(at / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
          const statusMoves = before?.status !== condition.status;
          const textMoves =
            before?.reason !== condition.reason ||
            before.message !== condition.message ||
            (before.codes ?? []).join() !== (condition.codes ?? []).join();
          expect(condition.lastTransitionTime).toBe(statusMoves ? moved : before.lastTransitionTime);
          expect(condition.lastUpdateTime).toBe(textMoves ? moved : before.lastUpdateTime);
        }
      }),
    );
  });

  it('has only codes of the last step', () => {
    fc.assert(
      fc.property(steps, (history) => {
        for (const { step, updated } of follow(history)) {
          expect(updated.codes ?? []).toEqual(step.codes ?? []);
        }
      }),
    );
  });

  it('reports a change exactly when a field differs', () => {
    fc.assert(
      fc.property(steps, (history) => {
        for (const { before, updated } of follow(history)) {
          expect(updated === before).toBe(before !== undefined && sameCondition(before, updated));
        }
      }),
    );
  });

  it('does nothing when a step is repeated', () => {
    fc.assert(
      fc.property(steps, time, (history, pause) => {
        const last = follow(history).at(-1)!;
        const condition = last.updated;
        expect(updateCondition({ type: 'X', old: condition }, last.step, last.at + pause)).toBe(condition);
      }),
    );
  });

  it('never leaves a reason, a message or a time empty', () => {
    fc.assert(
      fc.property(steps, (history) => {
        for (const { updated } of follow(history)) {
          const { codes: _, ...fields } = updated;
          expect(Object.values(fields)).not.toContain('');
        }
      }),
    );
  });
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

  it.each([{}, { conditions: null }, { conditions: [] }])('%j: none', (stored) => {
    expect(decodeConditions(stored, 'status')).toEqual([]);
  });

  it.each([
    [{ conditions: {} }, 'status.conditions: expected a list, found an object'],
    [{ conditions: ['x'] }, 'status.conditions[0]: expected an object, found a string'],
    [{ conditions: [{}] }, 'status.conditions[0].type: expected a string, found nothing'],
    [{ conditions: [{ type: 'A', codes: [1] }] }, 'status.conditions[0].codes[0]: expected a string, found a number'],
  ])('%j is refused', (stored, problem) => {
    expect(() => decodeConditions(stored, 'status')).toThrow(DecodeError);
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
  it('keeps conditions of other types first, unchanged, and puts the fresh ones last', () => {
    const storedBefore = [
      fresh('B', 'Old'),
      { type: 'Theirs', extra: { deep: true } },
      fresh('A', 'Old'),
      { type: 'Another' },
    ];
    const merged = mergeConditions(storedBefore, [fresh('A'), fresh('B')], []);
    expect(merged).toEqual([storedBefore[1], storedBefore[3], fresh('A'), fresh('B')]);
    expect(merged[0]).toBe(storedBefore[1]);
  });

  it('drops an owned type without a fresh condition, as in a Shoot without workers', () => {
    expect(mergeConditions([fresh('A', 'Old'), fresh('B', 'Old')], [fresh('B')], ['A', 'B'])).toEqual([fresh('B')]);
  });

  const owned = ['A', 'B', 'C'];
  const anyType = fc.constantFrom(...owned, 'Theirs', 'Another', 'constructor');
  const list = fc.array(
    fc.tuple(anyType, fc.string()).map(([type, reason]) => fresh(type, reason)),
    { maxLength: 8 },
  );
  const ownedList = fc.uniqueArray(fc.constantFrom(...owned)).map((types) => types.map((type) => fresh(type)));
  const isOwned = ({ type }: Condition): boolean => owned.includes(type);

  const merge = (stored: readonly Condition[], added: readonly Condition[]) => mergeConditions(stored, added, owned);

  it('keeps foreign types, in their order', () => {
    fc.assert(
      fc.property(list, ownedList, (stored, added) => {
        const foreign = stored.filter((one) => !isOwned(one));
        expect(merge(stored, added).filter((one) => !isOwned(one))).toEqual(foreign);
      }),
    );
  });

  it('has each fresh condition once, and no other of its type', () => {
    fc.assert(
      fc.property(list, ownedList, (stored, added) => {
        const merged = merge(stored, added);
        for (const one of added) expect(merged.filter(({ type }) => type === one.type)).toEqual([one]);
      }),
    );
  });

  it('does nothing a second time', () => {
    fc.assert(
      fc.property(list, ownedList, (stored, added) => {
        const merged = merge(stored, added);
        expect(sameConditions(merge(merged, added), merged)).toBe(true);
      }),
    );
  });
});

describe('two lists', () => {
  const [a, b] = [fresh('A'), fresh('B')];
  it.each([
    ['equal', [a, b], [fresh('A'), fresh('B')], true],
    ['empty', [], [], true],
    ['empty codes', [{ ...a, codes: [] }], [a], true],
    ['another order', [a, b], [b, a], false],
    ['one more', [a], [a, b], false],
    ['one less', [a, b], [a], false],
    ['another reason', [a], [fresh('A', 'Other')], false],
    ['another status', [a], [{ ...a, status: 'True' }], false],
    ['another update', [a], [{ ...a, lastUpdateTime: '' }], false],
    ['another transition', [a], [{ ...a, lastTransitionTime: '' }], false],
    ['other codes', [a], [{ ...a, codes: ['ERR'] }], false],
    ['another type', [a], [{ ...a, type: 'B' }], false],
    ['another message', [a], [{ ...a, message: '' }], false],
  ] as const)('%s', (_, left, right, same) => {
    expect(sameConditions(left, right)).toBe(same);
    expect(sameConditions(right, left)).toBe(same);
  });
});
