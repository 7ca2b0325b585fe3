import type { Store } from '../kubernetes/cache/index.ts';

/** Index of a store's objects by namespace, so that a check of one shoot does not iterate over the objects of all shoots. */
export class NamespaceIndex<T> {
  readonly #namespaces = new Map<string, Map<string, T>>();
  readonly #unsubscribe: () => void;

  constructor(store: Store<T>) {
    this.#unsubscribe = store.subscribe(({ type, key, value }) => {
      if (type === 'set') this.#set(key, value);
      else this.#remove(key);
    });
    for (const [key, value] of store.entries()) this.#set(key, value);
  }

  /** Returns the objects of a namespace in the order of their names, as the API server lists them. */
  in(namespace: string): readonly T[] {
    const objects = [...(this.#namespaces.get(namespace) ?? [])];
    return objects.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, value]) => value);
  }

  close(): void {
    this.#unsubscribe();
  }

  #set(key: string, value: T): void {
    const namespace = namespaceOf(key);
    const objects = this.#namespaces.get(namespace) ?? new Map<string, T>();
    this.#namespaces.set(namespace, objects.set(key, value));
  }

  #remove(key: string): void {
    const namespace = namespaceOf(key);
    const objects = this.#namespaces.get(namespace);
    objects?.delete(key);
    if (objects?.size === 0) this.#namespaces.delete(namespace);
  }
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(key.indexOf('/'), 0));
