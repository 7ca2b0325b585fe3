import type { ObjectKey, Store } from '../../kubernetes/cache/store.ts';

/** A synced store that holds what `get` says, and never tells of a change. */
export const createStaticStore = <T>(get: (key: ObjectKey) => T | undefined): Store<T> => ({
  synced: true,
  get,
  entries: () => [],
  subscribe: () => () => undefined,
  whenSynced: () => Promise.resolve(),
});
