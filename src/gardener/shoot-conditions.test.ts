import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mergeConditionsByType,
  mergeShootConditions,
  sameConditions,
  shootConditionTypes,
} from './shoot-conditions.ts';
import { type Condition, newCondition } from './condition.ts';

const now = Date.parse('2026-11-21T06:00:00Z');
const condition = (type: string, reason = 'New'): Condition => ({ ...newCondition(type, now), reason });
const typesOf = (conditions: readonly { readonly type?: unknown }[]) => conditions.map(({ type }) => type);

describe('merging into the Shoot', () => {
  it('writes the owned types in this order', () => {
    const fresh = [...shootConditionTypes].reverse().map((type) => condition(type));
    expect(typesOf(mergeShootConditions([], fresh))).toEqual([
      'APIServerAvailable',
      'ControlPlaneHealthy',
      'ObservabilityComponentsHealthy',
      'EveryNodeReady',
      'SystemComponentsHealthy',
    ]);
  });

  it('puts conditions of other types first, unchanged', () => {
    const stored = [
      condition('SystemComponentsHealthy', 'Old'),
      { type: 'Theirs', extra: { deep: true } },
      condition('APIServerAvailable', 'Old'),
      { type: 'Another' },
    ];
    const fresh = [condition('SystemComponentsHealthy'), condition('APIServerAvailable')];
    const merged = mergeShootConditions(stored, fresh);
    expect(merged).toEqual([stored[1], stored[3], fresh[1], fresh[0]]);
    expect(merged[0]).toBe(stored[1]);
  });

  it('drops an owned type without a fresh condition, as in a Shoot without workers', () => {
    const stored = [condition('EveryNodeReady', 'Old')];
    expect(typesOf(mergeShootConditions(stored, [condition('ControlPlaneHealthy')]))).toEqual(['ControlPlaneHealthy']);
  });
});

describe('merging by type', () => {
  it('replaces in place and appends new types', () => {
    const stored = [{ type: 'Theirs', extra: 1 }, condition('B', 'Old'), { type: 'Other' }, condition('A', 'Old')];
    const fresh = [condition('A'), condition('B'), condition('C')];
    expect(mergeConditionsByType(stored, fresh)).toEqual([stored[0], fresh[1], stored[2], fresh[0], fresh[2]]);
  });

  it('keeps one condition of a type that was stored twice', () => {
    const stored = [condition('A', 'Old'), { type: 'Theirs' }, condition('A', 'Older')];
    expect(mergeConditionsByType(stored, [condition('A')])).toEqual([condition('A'), { type: 'Theirs' }]);
  });
});

const anyType = fc.constantFrom(...shootConditionTypes, 'Theirs', 'Another', 'constructor');
const list = fc.array(
  fc.tuple(anyType, fc.string()).map(([type, reason]) => condition(type, reason)),
  { maxLength: 8 },
);
const ownedList = fc
  .uniqueArray(fc.constantFrom(...shootConditionTypes))
  .map((types) => types.map((type) => condition(type)));
const isOwned = ({ type }: Condition): boolean => (shootConditionTypes as readonly string[]).includes(type);

describe.each([
  ['into the Shoot', mergeShootConditions<Condition>],
  ['by type', mergeConditionsByType<Condition>],
])('merging %s', (_, merge) => {
  it('keeps foreign types, in their order', () => {
    fc.assert(
      fc.property(list, ownedList, (stored, fresh) => {
        const foreign = stored.filter((one) => !isOwned(one));
        expect(merge(stored, fresh).filter((one) => !isOwned(one))).toEqual(foreign);
      }),
    );
  });

  it('has each fresh condition once, and no other of its type', () => {
    fc.assert(
      fc.property(list, ownedList, (stored, fresh) => {
        const merged = merge(stored, fresh);
        for (const one of fresh) expect(merged.filter(({ type }) => type === one.type)).toEqual([one]);
      }),
    );
  });

  it('does nothing a second time', () => {
    fc.assert(
      fc.property(list, ownedList, (stored, fresh) => {
        const merged = merge(stored, fresh);
        expect(sameConditions(merge(merged, fresh), merged)).toBe(true);
      }),
    );
  });
});

describe('two lists', () => {
  const [a, b] = [condition('A'), condition('B')];
  it.each([
    ['equal', [a, b], [condition('A'), condition('B')], true],
    ['empty', [], [], true],
    ['empty codes', [{ ...a, codes: [] }], [a], true],
    ['another order', [a, b], [b, a], false],
    ['one more', [a], [a, b], false],
    ['one less', [a, b], [a], false],
    ['another reason', [a], [condition('A', 'Other')], false],
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
