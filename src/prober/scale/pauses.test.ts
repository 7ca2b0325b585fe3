import { afterEach, beforeEach, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import type { FoundPause } from '../../annotations/pause.ts';
import type { Store, StoreChange } from '../../kubernetes/cache/store.ts';
import { Pauses } from './pauses.ts';

let clock: VirtualClock;
let told: string[];
let pauses: Pauses;
let detach = (): void => undefined;

/** A watch before its first list unless `synced`. */
const createNamespaces = (initial: Readonly<Record<string, FoundPause>> = {}, synced = true) => {
  const entries = new Map<string, FoundPause | undefined>(Object.entries(initial));
  const listeners = new Set<(change: StoreChange<FoundPause | undefined>) => void>();
  let resolveSynced = (): void => undefined;
  const hasSynced = new Promise<void>((resolve) => {
    resolveSynced = resolve;
  });
  const store: Store<FoundPause | undefined> = {
    synced,
    get: (key) => entries.get(key),
    entries: () => entries,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    whenSynced: () => hasSynced,
  };
  const set = (key: string, value: FoundPause | undefined): void => {
    entries.set(key, value);
    for (const listener of listeners) listener({ type: 'set', key, value });
  };
  return { store, set, listed: resolveSynced };
};

const attach = (namespaces: Store<FoundPause | undefined>, configured?: FoundPause): void => {
  detach = pauses.attach({
    namespaces,
    configured,
    wake: (cluster = 'all') => told.push(`wake ${cluster}`),
  });
};

const pause = (reason: string, forMs?: number): FoundPause => ({
  reason,
  by: 'kim',
  ...(forMs === undefined ? {} : { until: clock.now() + forMs }),
});

beforeEach(() => {
  clock = createVirtualClock();
  told = [];
  pauses = new Pauses({
    clock,
    ownNamespace: 'garden',
    onChange: ({ cluster = 'all', pause: now, isFound }) =>
      told.push(`${cluster}: ${now?.reason ?? 'over'}${isFound ? ', found' : ''}`),
  });
});
afterEach(() => detach());

it('pauses are reported when they begin, change and are removed, but not if they are already over', () => {
  const { store, set } = createNamespaces();
  attach(store);
  set('a', pause('old', -1));
  set('a', pause('one'));
  set('a', pause('one'));
  set('a', pause('two'));
  set('a', undefined);
  set('a', undefined);
  expect(told).toEqual(['a: one', 'wake a', 'a: two', 'wake a', 'a: over', 'wake a']);
});

it('pauses of a first list that comes late are found, and not new', async () => {
  const { store, listed } = createNamespaces({ a: pause('one') }, false);
  attach(store);
  await clock.advance(60_000);
  listed();
  await clock.settle();
  expect(told).toEqual(['a: one, found', 'wake a']);
});

it('pauses follow one another: the one that ends later continues without a report', async () => {
  attach(createNamespaces({ garden: pause('all', 90_000) }).store, pause('configured', 30_000));
  told = [];
  await clock.advance(60_000);
  expect([told, pauses.ofAll()?.reason]).toEqual([[], 'all']);
  await clock.advance(30_000);
  expect(told).toEqual(['all: over', 'wake all']);
});
