/** Work queue of keys with the semantics of client-go's: a key is never processed twice at the same time. */
export interface Queue<K> {
  /** Adding a key that waits changes nothing; adding one that runs gives it exactly one more run. */
  add(key: K): void;
  /** Adds after `ms`; of two pending delays for one key the earlier wins. */
  addAfter(key: K, ms: number): void;
  /** Keys waiting, not counting delayed or running ones. */
  readonly depth: number;
}
