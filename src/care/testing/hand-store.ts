import type { Store, StoreChange } from '../../kubernetes/cache/store.ts';
import type { Watched } from '../sources.ts';

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

export const watchedStore = <T>(store: Store<T>, problem?: string): Watched<T> => ({ store, problem: () => problem });
