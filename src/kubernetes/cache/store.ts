/** `namespace/name`, or `name` alone for a cluster-scoped object. */
export type ObjectKey = string;

export interface StoreChange<T> {
  readonly type: 'set' | 'deleted';
  readonly key: ObjectKey;
  /** The new state; the last known one if `deleted`. */
  readonly value: T;
  /** The state before a `set`; absent if the object is new. */
  readonly previous?: T;
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
