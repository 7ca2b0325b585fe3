import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listNodeLeaseExpiries } from '../../care/observe/shoot.ts';
import { listNodeHealth, listNodes } from '../../gardener/node.ts';
import type { Call } from './call.ts';
import { distinctBy } from './distinct.ts';
import { listNodeLeases } from './lease.ts';

/** Ordinary names, and names of properties that every plain object has. */
const names = fc.constantFrom('a', 'b', 'c', 'd', '', ...Object.getOwnPropertyNames(Object.prototype));

describe('a name that occurs in a list more than once', () => {
  it('counts by its first item, in the order of the list', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ name: names, value: fc.nat() })), (items) => {
        const firsts = new Map<string, unknown>();
        for (const item of items) if (!firsts.has(item.name)) firsts.set(item.name, item);
        expect(distinctBy(items, ({ name }) => name)).toEqual([...firsts.values()]);
      }),
    );
  });

  it('items without a name all count', () => {
    expect(distinctBy([1, 1, 2], () => undefined)).toEqual([1, 1, 2]);
  });
});

it.each<[string, Call<readonly object[]>]>([
  ['leases, for the prober', listNodeLeases],
  ['leases, for care', listNodeLeaseExpiries],
  ['nodes, for the prober', listNodes],
  ['nodes, for care', listNodeHealth],
])('a hostile shoot lists one object a thousand times: it counts once among %s', (_, { list }) => {
  const named = (name: string) => ({ metadata: { name }, spec: {} });
  const items = [...Array<unknown>(1_000).fill(named('dead')), named('alive'), named('dead')];
  expect(list?.all(items.map((item) => list.item(item, 'item')))).toHaveLength(2);
});
