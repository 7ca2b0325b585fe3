import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simKinds } from './kinds.ts';
import type { SimMeta } from './object.ts';
import { createOrigin } from './origin.ts';
import { createSeededRandom } from '../time/index.ts';
import { Storage } from './storage.ts';

const { ConfigMap } = simKinds;

const meta = (namespace: string, name: string): SimMeta => ({
  namespace,
  name,
  uid: `${namespace}-${name}`,
  resourceVersion: '',
  creationTimestamp: '',
});

type Step = readonly ['put' | 'remove', string, string];

const steps = fc.array(
  fc.tuple(
    fc.constantFrom<Step[0]>('put', 'put', 'remove'),
    fc.constantFrom('a', 'a-b', 'b'),
    fc.constantFrom('x', 'y', 'z'),
  ),
  { maxLength: 40 },
);

/** Runs the steps; returns the keys and versions after each revision. */
const play = (storage: Storage, plan: readonly Step[]): ReadonlyMap<number, readonly string[]> => {
  const states = new Map<number, readonly string[]>();
  const now = new Map<string, number>();
  for (const [action, namespace, name] of plan) {
    const key = `${namespace}/${name}`;
    if (action === 'put') {
      now.set(key, storage.put(ConfigMap, { metadata: meta(namespace, name) }).revision);
    } else {
      const entry = storage.collection(ConfigMap).get(namespace, name);
      if (entry === undefined) continue;
      storage.remove(entry);
      now.delete(key);
    }
    states.set(storage.revision, [...now].map(([at, revision]) => `${at}@${revision}`).sort());
  }
  return states;
};

const render = (entries: readonly { key: string; revision: number }[] | undefined): readonly string[] =>
  [...(entries ?? [])].map(({ key, revision }) => `${key}@${revision}`);

const origin = createOrigin({ random: createSeededRandom(0), now: () => 0 });

describe('a collection', () => {
  it('returns the state as of any revision in its history', () => {
    fc.assert(
      fc.property(steps, (plan) => {
        const storage = new Storage(1000, origin);
        const states = play(storage, plan);
        const collection = storage.collection(ConfigMap);
        for (const [revision, state] of states) {
          expect([...render(collection.at(revision))].sort()).toEqual(state);
          const inB = state.filter((key) => key.startsWith('a-b/'));
          expect([...render(collection.at(revision, 'a-b'))].sort()).toEqual(inB);
        }
      }),
    );
  });

  it('discards events that are compacted, and events beyond its limit', () => {
    const storage = new Storage(10, origin);
    for (let count = 0; count < 50; count += 1) storage.put(ConfigMap, { metadata: meta('a', 'x') });
    const collection = storage.collection(ConfigMap);
    expect(collection.since(1)).toBeUndefined();
    expect(collection.since(storage.revision - 10)).toHaveLength(10);
    expect(collection.since(collection.compacted)).toBeDefined();
    expect(collection.since(collection.compacted - 1)).toBeUndefined();
    storage.compact(storage.revision - 3);
    expect(collection.since(storage.revision - 4)).toBeUndefined();
    expect(collection.since(storage.revision - 3)).toHaveLength(3);
    storage.compact(5);
    expect(collection.since(storage.revision - 3)).toHaveLength(3);
    expect(storage.collection(simKinds.Secret).since(storage.revision - 4)).toBeUndefined();
  });
});

it('a storage notifies all listeners in one order, also of writes by listeners', () => {
  const storage = new Storage(10, origin);
  const heard: string[] = [];
  storage.subscribe(ConfigMap, undefined, ({ entry }) => {
    if (entry.name === 'first') storage.put(ConfigMap, { metadata: meta('a', 'reaction') });
  });
  storage.subscribe(ConfigMap, undefined, ({ entry }) => heard.push(`all ${entry.name}`));
  storage.subscribe(ConfigMap, 'a', ({ entry }) => heard.push(`a ${entry.name}`));
  storage.subscribe(ConfigMap, 'b', () => heard.push('b'));
  storage.put(ConfigMap, { metadata: meta('a', 'first') });
  expect(heard).toEqual(['all first', 'a first', 'all reaction', 'a reaction']);
});
