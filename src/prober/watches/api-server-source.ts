import type { Store } from '../../kubernetes/cache/index.ts';

/** The workload that runs the API servers of shoots (`apiServerRef`), watched by its name in all namespaces. */
export interface ApiServerSource {
  /** Returns the monotonic instant since which no change was missed; undefined while the watch is interrupted, or before it begins. */
  watchedSince(): number | undefined;
  /** Returns the name of the cluster that an API server belongs to, by its key in the store; undefined if none. Default: its namespace. */
  readonly ownerOf?: (key: string) => string | undefined;
  /** Numbers of ready replicas. */
  readonly store: Store<number>;
}
