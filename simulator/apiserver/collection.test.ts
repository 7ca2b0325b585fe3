import { expect, it } from 'vitest';
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

const origin = createOrigin({ random: createSeededRandom(0), now: () => 0 });

it('a collection discards events that are compacted, and events beyond its limit', () => {
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
