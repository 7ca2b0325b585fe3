import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorOperator,
  formatLabelSelector,
  isLabelKey,
  isLabelValue,
} from './label-selectors.ts';

const selector = (matchLabels: Readonly<Record<string, string>>, ...matchExpressions: LabelRequirement[]) => ({
  matchLabels,
  matchExpressions,
});

const term = (key: string, operator: LabelSelectorOperator, ...values: string[]) => ({ key, operator, values });

const keys = fc.constantFrom('app', 'role', 'gardener.cloud/role', 'constructor');
const values = fc.constantFrom('', 'a', 'b', 'c');
const labels = fc.dictionary(keys, values, { maxKeys: 4 });
const requirement: fc.Arbitrary<LabelRequirement> = fc.oneof(
  fc.record<LabelRequirement>({
    key: keys,
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.array(values, { minLength: 1, maxLength: 4 }),
  }),
  fc.record<LabelRequirement>({
    key: keys,
    operator: fc.constantFrom('Exists', 'DoesNotExist'),
    values: fc.constant([]),
  }),
);
const selectors: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: labels,
  matchExpressions: fc.array(requirement, { maxLength: 4 }),
});

describe('formatLabelSelector', () => {
  it.each<[LabelSelector, string]>([
    [selector({}), ''],
    [selector({ role: 'main', app: 'etcd' }), 'app=etcd,role=main'],
    [selector({ app: '' }), 'app='],
    [selector({}, term('role', 'In', 'main')), 'role=main'],
    [selector({}, term('role', 'In', 'main', 'events', 'main')), 'role in (events,main)'],
    [selector({}, term('role', 'In', 'main', '')), 'role in (,main)'],
    [selector({}, term('role', 'NotIn', 'main')), 'role!=main'],
    [selector({}, term('role', 'NotIn', 'main', 'apiserver')), 'role notin (apiserver,main)'],
    [selector({}, term('role', 'Exists')), 'role'],
    [selector({}, term('role', 'DoesNotExist')), '!role'],
    [
      selector({ 'gardener.cloud/role': 'controlplane' }, term('role', 'NotIn', 'main'), term('app', 'DoesNotExist')),
      '!app,gardener.cloud/role=controlplane,role!=main',
    ],
    [selector({ app: 'etcd' }, term('app', 'In', 'etcd'), term('app', 'In', 'etcd', 'etcd')), 'app=etcd'],
  ])('%j: %s', (wanted, expected) => {
    expect(formatLabelSelector(wanted)).toBe(expected);
  });

  const shuffled = <T>(items: readonly T[]) =>
    fc.shuffledSubarray([...items, ...items], { minLength: items.length * 2, maxLength: items.length * 2 });

  it('returns the same text for any order and repetition of terms and values', () => {
    const withOther = selectors.chain((one) =>
      fc.record({
        one: fc.constant(one),
        other: fc
          .tuple(
            fc.shuffledSubarray(Object.entries(one.matchLabels), { minLength: Object.keys(one.matchLabels).length }),
            fc.tuple(...one.matchExpressions.map((part) => shuffled(part.values))),
          )
          .chain(([pairs, lists]) =>
            shuffled(one.matchExpressions.map((part, index) => ({ ...part, values: lists[index] ?? [] }))).map(
              (matchExpressions) => ({ matchLabels: Object.fromEntries(pairs), matchExpressions }),
            ),
          ),
      }),
    );
    fc.assert(
      fc.property(withOther, ({ one, other }) => {
        expect(formatLabelSelector(other)).toBe(formatLabelSelector(one));
      }),
    );
  });
});

describe('label keys and values', () => {
  const n = (length: number, character = 'a'): string => character.repeat(length);

  const good = {
    keys: ['a', 'A', '0', 'a.b_c-D', n(63), 'kubernetes.io/service-name', `${n(253)}/${n(63)}`, '0.1/b'],
    values: ['', 'a', '1', 'A_1.b-c', n(63)],
  };
  const bad = {
    keys: [
      ...[n(64), '', '-a', 'a-', '.a', 'a.', '_a', '__proto__', 'a b', 'a\n', 'é', `${n(254)}/a`, `a/${n(64)}`],
      ...['/a', 'a/', 'a/b/c', 'A/b', 'a_b/c', 'a..b/c', 'a.-b/c', '-a/b'],
    ],
    values: [n(64), '-', 'a-', '.a', 'a/b', 'a b', 'a\n', '\n', 'é'],
  };

  it('are those of Kubernetes', () => {
    expect(good.keys.filter((text) => !isLabelKey(text))).toEqual([]);
    expect(good.values.filter((text) => !isLabelValue(text))).toEqual([]);
    expect(bad.keys.filter(isLabelKey)).toEqual([]);
    expect(bad.values.filter(isLabelValue)).toEqual([]);
  });

  it('are checked at any length', () => {
    const long = n(100_000);
    for (const text of [long, `${long}/`, `${n(100_000, 'a.')}/`, n(100_000, 'a-'), `${n(100_000, '-')}/a`]) {
      expect([isLabelKey(text), isLabelValue(text)]).toEqual([false, false]);
    }
  });
});
