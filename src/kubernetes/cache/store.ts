/** `namespace/name`, or `name` alone for a cluster-scoped object. */
export type ObjectKey = string;

export interface StoreChange<T> {
  readonly type: 'set' | 'deleted';
  readonly key: ObjectKey;
  /** The new state; the last known one if `deleted`. */
  readonly value: T;
  /** The state before a `set`; absent if the object is new. */
  readonly previous?: T;
  /** True if a list shows the change, and not an event: the states between `previous` and `value` are not known. */
  readonly isListed?: true;
}

/** A cache that list and watch keep in sync with the API server. */
export interface Store<T> {
  /** True once the first list is complete; stays true while the watch is lost. */
  readonly synced: boolean;
  get(key: ObjectKey): T | undefined;
  entries(): Iterable<readonly [ObjectKey, T]>;
  /** Calls `listener` for every change from now on, synchronously and in order, after the store shows it. Returns the unsubscribe function. */
  subscribe(listener: (change: StoreChange<T>) => void): () => void;
  /** Resolves once synced; rejects with `signal.reason` on abort. */
  whenSynced(signal: AbortSignal): Promise<void>;
}

/** Indexes a store that is still empty by namespace, so that a reader of one namespace does not iterate over all objects. Returns the reader. */
export const indexByNamespace = <T>(
  store: Pick<Store<T>, 'subscribe'>,
): ((namespace: string) => ReadonlyMap<ObjectKey, T>) => {
  const namespaces = new Map<string, Map<ObjectKey, T>>();
  store.subscribe(({ type, key, value }) => {
    const namespace = key.slice(0, Math.max(key.indexOf('/'), 0));
    const objects = namespaces.get(namespace) ?? new Map<ObjectKey, T>();
    if (type === 'set') objects.set(key, value);
    else objects.delete(key);
    if (objects.size > 0) namespaces.set(namespace, objects);
    else namespaces.delete(namespace);
  });
  return (namespace) => namespaces.get(namespace) ?? new Map<ObjectKey, T>();
};
