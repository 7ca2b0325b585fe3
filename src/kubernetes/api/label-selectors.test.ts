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
])('formatLabelSelector: %j: %s', (wanted, expected) => {
  expect(formatLabelSelector(wanted)).toBe(expected);
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
