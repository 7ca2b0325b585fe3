import type { Store, StoreChange } from './store.ts';

/** A store whose source comes later; until then it is empty and not synced. */
export interface DeferredStore<T> {
  readonly store: Store<T>;
  /** To be called once. What the source holds already is not announced, so connect it before it runs. */
  connect(source: Store<T>): void;
}

export const createDeferredStore = <T>(): DeferredStore<T> => {
  const listeners = new Set<(change: StoreChange<T>) => void>();
  let source: Store<T> | undefined;
  let announce: (connected: Store<T>) => void = () => undefined;
  const connected = new Promise<Store<T>>((resolve) => {
    announce = resolve;
  });
  return {
    store: {
      get synced() {
        return source?.synced ?? false;
      },
      get: (key) => source?.get(key),
      entries: () => source?.entries() ?? [],
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      whenSynced: async (signal) => {
        const aborted = new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
        signal.throwIfAborted();
        await (await Promise.race([connected, aborted])).whenSynced(signal);
      },
    },
    connect: (store) => {
      source = store;
      store.subscribe((change) => {
        for (const listener of listeners) listener(change);
      });
      announce(store);
    },
  };
};
