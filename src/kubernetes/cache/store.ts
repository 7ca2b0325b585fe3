/** `namespace/name`, or `name` alone for a cluster-scoped object. */
export type ObjectKey = string;

export interface StoreChange<T> {
  readonly type: 'set' | 'deleted';
  readonly key: ObjectKey;
  /** The new state; for `deleted` the last known one. */
  readonly value: T;
  /** The state before a `set`, absent when the object is new. */
  readonly previous?: T;
}

/** A cache that a list and a watch keep in step with the API server. */
export interface Store<T> {
  /** True once the first list is in; stays true while the watch is away. */
  readonly synced: boolean;
  get(key: ObjectKey): T | undefined;
  entries(): Iterable<readonly [ObjectKey, T]>;
  /** `listener` hears every change from now on, synchronously and in order, after the store shows it. Returns the unsubscribe function. */
  subscribe(listener: (change: StoreChange<T>) => void): () => void;
  /** Resolves once synced; rejects with `signal.reason` on abort. */
  whenSynced(signal: AbortSignal): Promise<void>;
}
