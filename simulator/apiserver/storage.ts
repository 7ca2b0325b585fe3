import { Collection, type StoreEvent } from './collection.ts';
import { type Entry, createEntry } from './entry.ts';
import type { SimKind } from './kind.ts';
import { stampedMetadata } from './metadata.ts';
import type { JsonMap, SimMeta, SimObject } from './object.ts';
import type { ServerOrigin } from './origin.ts';

export type StoreListener = (event: StoreEvent) => void;

interface KindStorage {
  readonly collection: Collection;
  readonly everywhere: Set<StoreListener>;
  readonly byNamespace: Map<string, Set<StoreListener>>;
}

const withRevision = (object: Readonly<JsonMap> & { readonly metadata: SimMeta }, revision: number): SimObject =>
  ({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }) as unknown as SimObject;

/** The objects of one server with one revision counter, like etcd's. */
export class Storage {
  readonly #shelves = new Map<SimKind, KindStorage>();
  readonly #historyEvents: number;
  readonly #origin: ServerOrigin;
  readonly #undelivered: StoreEvent[] = [];
  /** False: a changed field keeps the first time in `managedFields`. */
  stamps = true;
  #isDelivering = false;
  #revision = 1;
  /** Compacted revision, after which the history of new collections begins. */
  #forgotten = 0;

  constructor(historyEvents: number, origin: ServerOrigin) {
    this.#historyEvents = historyEvents;
    this.#origin = origin;
  }

  get revision(): number {
    return this.#revision;
  }

  collection(kind: SimKind): Collection {
    return this.#shelf(kind).collection;
  }

  /** Stores a new state with the next revision, which replaces `object`'s resourceVersion, and notifies the listeners. */
  put(kind: SimKind, object: Readonly<JsonMap> & { readonly metadata: SimMeta }): Entry {
    const { name, namespace = '' } = object.metadata;
    const previous = this.collection(kind).get(namespace, name);
    this.#revision += 1;
    const revision = this.#revision;
    const now = this.stamps ? this.#origin.timestamp() : undefined;
    const metadata = stampedMetadata(kind, { previous: previous?.object, next: object, now });
    const next = withRevision({ ...object, metadata: metadata as SimMeta }, revision);
    const entry = createEntry(kind, next, revision);
    this.#publish({
      type: previous === undefined ? 'ADDED' : 'MODIFIED',
      revision,
      entry,
      previous,
      chunks: undefined,
    });
    return entry;
  }

  /** Removes the object; returns its last state with the revision of the deletion. */
  remove(previous: Entry): Entry {
    this.#revision += 1;
    const revision = this.#revision;
    const entry = createEntry(previous.kind, withRevision(previous.object, revision), revision);
    this.#publish({ type: 'DELETED', revision, entry, previous, chunks: undefined });
    return entry;
  }

  /** Calls `listener` for every later event, in order, of all namespaces or of one. Returns the unsubscribe function. */
  subscribe(kind: SimKind, namespace: string | undefined, listener: StoreListener): () => void {
    const { everywhere, byNamespace } = this.#shelf(kind);
    if (namespace === undefined) {
      everywhere.add(listener);
      return () => everywhere.delete(listener);
    }
    const listeners = byNamespace.get(namespace) ?? new Set();
    byNamespace.set(namespace, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) byNamespace.delete(namespace);
    };
  }

  /** Discards the history up to `revision`: watches and pages of older revisions get a 410. */
  compact(revision: number): void {
    this.#forgotten = Math.max(this.#forgotten, revision);
    for (const { collection } of this.#shelves.values()) collection.compact(revision);
  }

  #shelf(kind: SimKind): KindStorage {
    const found = this.#shelves.get(kind);
    if (found !== undefined) return found;
    const shelf: KindStorage = {
      collection: new Collection({ events: this.#historyEvents, forgotten: this.#forgotten }),
      everywhere: new Set(),
      byNamespace: new Map(),
    };
    this.#shelves.set(kind, shelf);
    return shelf;
  }

  /** Delivers an event that a listener causes after the event that it is handling, so that all listeners get all events in one order. */
  #publish(event: StoreEvent): void {
    this.collection(event.entry.kind).apply(event);
    this.#undelivered.push(event);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      for (let next = this.#undelivered.shift(); next !== undefined; next = this.#undelivered.shift()) {
        this.#deliver(next);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  #deliver(event: StoreEvent): void {
    const { everywhere, byNamespace } = this.#shelf(event.entry.kind);
    if (everywhere.size > 0) for (const listener of [...everywhere]) listener(event);
    const nearby = byNamespace.get(event.entry.namespace);
    if (nearby !== undefined) for (const listener of [...nearby]) listener(event);
  }
}
