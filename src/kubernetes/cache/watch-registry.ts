import type { Meter } from '../../ports/meter.ts';

/** A watch that runs. */
export interface WatchEntry {
  /** As `secrets` or `clusters.extensions.gardener.cloud`. */
  readonly resource: string;
  /** Field and label selectors as of its query; empty: all objects. */
  readonly selector: string;
  /** Milliseconds since its last byte, or since it was lost. */
  readonly ageMs: () => number;
  /** What an operator should know of it; undefined while all is well. */
  readonly problem: () => string | undefined;
}

/** All watches of a process, and what they have learned of the API servers. */
export interface WatchRegistry {
  /** To be called when a watch begins; returns the function to call when it ends. */
  enter(entry: WatchEntry): () => void;
  readonly entries: Iterable<WatchEntry>;
  /** Resources on a watch of which a bookmark has come: there silence means something. */
  readonly bookmarked: Set<string>;
}

/** `/apis/GROUP/VERSION[/namespaces/NAMESPACE]/RESOURCE` as `RESOURCE.GROUP`, and `/api/v1/...` as `RESOURCE`. */
export const resourceOf = (path: string): string => {
  const [, root, group, ...rest] = path.split('/');
  const resource = rest.at(-1) ?? '';
  return root === 'apis' ? `${resource}.${group ?? ''}` : resource;
};

/**
 * Shows the ages of all watches: those with the same selector in several namespaces are one series, the age of the oldest. To be called
 * once per meter.
 */
export const createWatchRegistry = (meter: Meter): WatchRegistry => {
  const entries = new Set<WatchEntry>();
  meter.gauge({
    name: 'dwd_watch_age_seconds',
    help: 'Time since the API server was last heard on a watch (it sends a bookmark each minute), or since the watch was lost.',
    labels: ['resource', 'selector'],
    read: () =>
      Array.from(entries, ({ resource, selector, ageMs }) => ({
        labels: { resource, selector },
        value: Math.round(ageMs()) / 1_000,
      })).toSorted((a, b) => a.value - b.value),
  });
  return {
    enter: (entry) => {
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    entries,
    bookmarked: new Set(),
  };
};
