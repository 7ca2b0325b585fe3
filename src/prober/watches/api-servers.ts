import type { Store } from '../../kubernetes/cache/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ApiServerView } from '../judge/probe-input.ts';

/** The workload that runs the API servers of shoots (`apiServerRef`), watched by its name in all namespaces. */
export interface ApiServerSource {
  /** Returns the monotonic instant since which no change was missed; undefined while the watch is interrupted, or before it begins. */
  watchedSince(): number | undefined;
  /** Returns the name of the cluster that an API server belongs to, by its key in the store; undefined if none. Default: its namespace. */
  readonly ownerOf?: (key: string) => string | undefined;
  /** Numbers of ready replicas. */
  readonly store: Store<number>;
}

/** Availability of the API servers of all shoots, as the seed has shown it since this was created. */
export interface ApiServers {
  view(namespace: string): ApiServerView;
}

/** `until` is absent while the API server is unavailable. */
type Unavailable = NonNullable<ApiServerView['unavailable']>;

/**
 * Remembers when the API server of each shoot last had no ready replica, because a watch shows the present only. Create this before the source runs. One
 * subscription serves all shoots: otherwise every prober would receive the changes of all others.
 */
export const createApiServers = (source: ApiServerSource, clock: Pick<Clock, 'monotonic'>): ApiServers => {
  const { store } = source;
  const latest = new Map<string, Unavailable>();
  const { ownerOf = (key: string): string | undefined => key.slice(0, key.indexOf('/')) } = source;
  /** Clusters whose API server exists. */
  const present = new Set<string>();

  store.subscribe(({ type, key, value, previous }) => {
    const namespace = ownerOf(key);
    if (namespace === undefined) return;
    if (type === 'deleted') {
      present.delete(namespace);
      latest.delete(namespace);
      return;
    }
    present.add(namespace);
    const before = latest.get(namespace);
    const lasts = before !== undefined && before.until === undefined;
    if (value > 0 && lasts) latest.set(namespace, { ...before, until: clock.monotonic() });
    if (value > 0 || lasts) return;
    // It was already unavailable when first seen, perhaps for long.
    const since = previous === undefined ? Number.NEGATIVE_INFINITY : clock.monotonic();
    latest.set(namespace, { since });
  });

  return {
    view: (namespace) => {
      const unavailable = latest.get(namespace);
      const knownSince = present.has(namespace) ? source.watchedSince() : undefined;
      return {
        ...(knownSince === undefined ? {} : { knownSince }),
        ...(unavailable === undefined ? {} : { unavailable }),
      };
    },
  };
};
