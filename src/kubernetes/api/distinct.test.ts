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

describe('a hostile shoot lists one object a thousand times', () => {
  const times = 1_000;
  const listOf = (kind: string, items: readonly object[]) => ({ kind, metadata: {}, items });
  const dead = Array.from({ length: times }, () => ({
    metadata: { name: 'dead', namespace: 'kube-node-lease' },
    spec: { renewTime: '2020-01-01T00:00:00.000000Z' },
  }));
  const alive = { metadata: { name: 'alive', namespace: 'kube-node-lease' }, spec: {} };

  /** Reads a list as the client does: item by item as they arrive. */
  const stream = <T>({ list }: Call<T>, items: readonly unknown[]): T | undefined =>
    list?.all(items.map((item) => list.item(item, 'item')));

  it('leases: once', () => {
    const items = [...dead, alive, ...dead];
    const leases = listNodeLeases.decode(listOf('LeaseList', items));
    expect(leases.map(({ name }) => name)).toEqual(['dead', 'alive']);
    expect(stream(listNodeLeases, items)).toEqual(leases);
    expect(stream(listNodeLeaseExpiries, items)).toMatchObject([{ name: 'dead' }, { name: 'alive' }]);
  });

  it('nodes: once, for the prober and for care', () => {
    const list = listOf(
      'NodeList',
      ['a', 'b', ...Array<string>(times).fill('c')].map((name) => ({ metadata: { name } })),
    );
    expect(listNodes.decode(list).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(listNodeHealth.decode(list).map(({ meta }) => meta.name)).toEqual(['a', 'b', 'c']);
    expect(stream(listNodes, list.items)).toHaveLength(3);
    expect(stream(listNodeHealth, list.items)).toHaveLength(3);
  });
});
