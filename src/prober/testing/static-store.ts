import type { ObjectKey, Store } from '../../kubernetes/cache/store.ts';

/** Creates a synced store with the values of `get`, which never reports a change. `all`: the values that it lists. */
export const createStaticStore = <T>(get: (key: ObjectKey) => T | undefined, all: readonly T[] = []): Store<T> => ({
  synced: true,
  get,
  entries: () => all.map((value, index) => [String(index), value] as const),
  subscribe: () => () => undefined,
  whenSynced: () => Promise.resolve(),
});
