import type { Meter } from '../../ports/meter.ts';

/** A running watch. */
export interface WatchEntry {
  /** Name with group, such as `secrets` or `clusters.extensions.gardener.cloud`. */
  readonly resource: string;
  /** Field and label selectors of its query; empty: all objects. */
  readonly selector: string;
  /** Returns the milliseconds since its last byte, or since it was lost. */
  readonly ageMs: () => number;
  /** Returns its problem for an operator; undefined if there is none. */
  readonly problem: () => string | undefined;
}

/** All watches of a process. */
export interface WatchRegistry {
  /** Adds a watch that begins; returns the function to call when it ends. */
  enter(entry: WatchEntry): () => void;
  readonly entries: Iterable<WatchEntry>;
}

/** Returns `RESOURCE.GROUP` for the path `/apis/GROUP/VERSION[/namespaces/NAMESPACE]/RESOURCE`, and `RESOURCE` for `/api/v1/...`. */
export const resourceOf = (path: string): string => {
  const [, root, group, ...rest] = path.split('/');
  const resource = rest.at(-1) ?? '';
  return root === 'apis' ? `${resource}.${group ?? ''}` : resource;
};

/**
 * Creates a registry that exports the ages of all watches as a metric. Watches with the same selector in several namespaces are one series, with the age of
 * the oldest. Call it once per meter.
 */
export const createWatchRegistry = (meter: Meter): WatchRegistry => {
  const entries = new Set<WatchEntry>();
  meter.gauge({
    name: 'dwd_watch_age_seconds',
    help: 'Time since a watch last received data; the API server sends a bookmark every minute.',
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
  };
};
