import { type Collection, type StoreEvent, createCollection } from './collection.ts';
import { type Entry, createEntry, succeedingEntry } from './entry.ts';
import type { SimKind } from './kind.ts';
import type { JsonMap, SimMeta, SimObject } from './object.ts';

export type StoreListener = (event: StoreEvent) => void;

/** The objects of one server under one revision counter, like etcd's. */
export interface Storage {
  readonly revision: number;
  collection(kind: SimKind): Collection;
  /** Stores a new state under the next revision and tells the listeners. `object`'s resourceVersion is replaced. */
  put(kind: SimKind, object: Readonly<JsonMap> & { readonly metadata: SimMeta }): Entry;
  /** Removes the object; returns its last state under the revision of the deletion. */
  remove(entry: Entry): Entry;
  /** `listener` hears of every event from now on, in order; of one namespace when it is given. Returns the unsubscribe function. */
  subscribe(kind: SimKind, namespace: string | undefined, listener: StoreListener): () => void;
  /** Forgets the past up to `revision`: older watches and pages are answered with 410. */
  compact(revision: number): void;
}

interface Shelf {
  readonly collection: Collection;
  readonly everywhere: Set<StoreListener>;
  readonly byNamespace: Map<string, Set<StoreListener>>;
}

const withRevision = (object: Readonly<JsonMap> & { readonly metadata: SimMeta }, revision: number): SimObject =>
  ({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }) as unknown as SimObject;

export const createStorage = (historyEvents: number): Storage => {
  const shelves = new Map<SimKind, Shelf>();
  const undelivered: StoreEvent[] = [];
  let delivering = false;
  let revision = 1;
  /** Where collections that are new begin to remember. */
  let forgotten = 0;

  const shelfOf = (kind: SimKind): Shelf => {
    const found = shelves.get(kind);
    if (found !== undefined) return found;
    const shelf: Shelf = {
      collection: createCollection({ events: historyEvents, forgotten }),
      everywhere: new Set(),
      byNamespace: new Map(),
    };
    shelves.set(kind, shelf);
    return shelf;
  };

  const deliver = (event: StoreEvent): void => {
    const { everywhere, byNamespace } = shelfOf(event.entry.kind);
    if (everywhere.size > 0) for (const listener of [...everywhere]) listener(event);
    const nearby = byNamespace.get(event.entry.namespace);
    if (nearby !== undefined) for (const listener of [...nearby]) listener(event);
  };

  /** A listener may write: what it causes is delivered after what it is hearing, so that all hear all in one order. */
  const publish = (event: StoreEvent, { collection }: Shelf): void => {
    collection.apply(event);
    undelivered.push(event);
    if (delivering) return;
    delivering = true;
    try {
      for (let next = undelivered.shift(); next !== undefined; next = undelivered.shift()) deliver(next);
    } finally {
      delivering = false;
    }
  };

  return {
    get revision() {
      return revision;
    },
    collection: (kind) => shelfOf(kind).collection,
    put(kind, object) {
      const { name, namespace = '' } = object.metadata;
      const shelf = shelfOf(kind);
      const previous = shelf.collection.get(namespace, name);
      revision += 1;
      const next = withRevision(object, revision);
      const entry =
        previous === undefined ? createEntry(kind, next, revision) : succeedingEntry(previous, next, revision);
      const type = previous === undefined ? 'ADDED' : 'MODIFIED';
      publish({ type, revision, entry, previous, chunks: undefined }, shelf);
      return entry;
    },
    remove(previous) {
      revision += 1;
      const entry = succeedingEntry(previous, withRevision(previous.object, revision), revision);
      publish({ type: 'DELETED', revision, entry, previous, chunks: undefined }, shelfOf(previous.kind));
      return entry;
    },
    subscribe(kind, namespace, listener) {
      const shelf = shelfOf(kind);
      if (namespace === undefined) {
        shelf.everywhere.add(listener);
        return () => shelf.everywhere.delete(listener);
      }
      const listeners = shelf.byNamespace.get(namespace) ?? new Set();
      shelf.byNamespace.set(namespace, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) shelf.byNamespace.delete(namespace);
      };
    },
    compact(upTo) {
      forgotten = Math.max(forgotten, upTo);
      for (const shelf of shelves.values()) shelf.collection.compact(upTo);
    },
  };
};
