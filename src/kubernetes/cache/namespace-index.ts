import type { ObjectKey, Store } from './store.ts';

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
