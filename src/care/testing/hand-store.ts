import type { Store, StoreChange } from '../../kubernetes/cache/store.ts';
import { Watched } from '../observe/seed.ts';

/** A store that a test fills. */
export interface HandStore<T> extends Store<T> {
  synced: boolean;
  set(key: string, value: T): void;
  remove(key: string): void;
}

export const createHandStore = <T>(entries: Readonly<Record<string, T>> = {}): HandStore<T> => {
  const objects = new Map(Object.entries(entries));
  const listeners = new Set<(change: StoreChange<T>) => void>();
  const announce = (change: StoreChange<T>): void => {
    for (const listener of listeners) listener(change);
  };
  return {
    synced: true,
    get: (key) => objects.get(key),
    entries: () => objects.entries(),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    whenSynced: () => Promise.resolve(),
    set: (key, value) => {
      objects.set(key, value);
      announce({ type: 'set', key, value });
    },
    remove: (key) => {
      const value = objects.get(key);
      objects.delete(key);
      if (value !== undefined) announce({ type: 'deleted', key, value });
    },
  };
};

/** Watches a store, of which `lastError` is the last error of its list or watch. */
export const watchedStore = <T>(store: Store<T>, lastError?: Error): Watched<T> =>
  new Watched({
    ...store,
    get synced() {
      return store.synced;
    },
    state: () => ({ lastError }) as never,
    interruptedMs: () => 0,
  });
