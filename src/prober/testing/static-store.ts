import type { ObjectKey, Store } from '../../kubernetes/cache/store.ts';

/** Creates a synced store with the values of `get`, which never reports a change. */
export const createStaticStore = <T>(get: (key: ObjectKey) => T | undefined): Store<T> => ({
  synced: true,
  get,
  entries: () => [],
  subscribe: () => () => undefined,
  whenSynced: () => Promise.resolve(),
});
