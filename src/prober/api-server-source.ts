import type { Store } from '../kubernetes/cache/index.ts';

/** What runs the API servers of shoots (`apiServerRef`), watched by its name over all namespaces. */
export interface ApiServerSource {
  /** Monotonic instant since which no change was missed; undefined while the watch is away, or has not begun. */
  watchedSince(): number | undefined;
  /** Name of the cluster whose API server that is, by its key in the store; undefined: of none. Default: its namespace. */
  readonly ownerOf?: (key: string) => string | undefined;
  /** Available replicas. */
  readonly store: Store<number>;
}
