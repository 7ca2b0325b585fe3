import type { Entry } from './entry.ts';
import type { SimObject } from './object.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** The new state; for DELETED the last state, with the revision of the deletion. */
  readonly entry: Entry;
  readonly previous: Entry | undefined;
  /** The event as sent, by event type, shared by all watchers. Filled on first use, because most events have no watcher. */
  chunks: Map<string, Uint8Array> | undefined;
}

export interface HistoryLimits {
  /** Number of events that are kept for watches and lists of older revisions. */
  readonly events: number;
  /** Events up to this revision are not in the history. */
  readonly forgotten: number;
}

/** Frozen arrays in the order of etcd's keys. */
interface Sorted {
  readonly entries: readonly Entry[];
  readonly objects: readonly SimObject[];
}

const compareKeys = (a: Entry, b: Entry): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

const sort = (unsorted: readonly Entry[]): Sorted => {
  const entries = unsorted.toSorted(compareKeys);
  return { entries: Object.freeze(entries), objects: Object.freeze(entries.map(({ object }) => object)) };
};

const nothing = sort([]);

/** The objects of one kind, in the order of etcd's keys, and their recent history. */
export class Collection {
  /** Entries by namespace and name. */
  readonly #buckets = new Map<string, Map<string, Entry>>();
  readonly #keptEvents: number;
  /** Lists by namespace, or of all namespaces (undefined), until an entry changes. */
  readonly #lists = new Map<string | undefined, Sorted>();
  #history: StoreEvent[] = [];
  #compacted: number;

  constructor(limits: HistoryLimits) {
    this.#keptEvents = limits.events;
    this.#compacted = limits.forgotten;
  }

  /** Revision up to which the history is discarded. */
  get compacted(): number {
    return this.#compacted;
  }

  get(namespace: string, name: string): Entry | undefined {
    return this.#buckets.get(namespace)?.get(name);
  }

  /** Entries sorted by key, of all namespaces or of one. The array is frozen, and the same one until an entry changes. */
  list(namespace?: string): readonly Entry[] {
    return this.#sorted(namespace).entries;
  }

  /** The objects of `list`. */
  objects(namespace?: string): readonly SimObject[] {
    return this.#sorted(namespace).objects;
  }

  apply(event: StoreEvent): void {
    const { entry, type } = event;
    const { namespace, name } = entry;
    const bucket = this.#buckets.get(namespace) ?? new Map<string, Entry>();
    this.#buckets.set(namespace, bucket);
    if (type === 'DELETED') bucket.delete(name);
    else bucket.set(name, entry);
    if (bucket.size === 0) this.#buckets.delete(namespace);
    this.#lists.delete(namespace);
    this.#lists.delete(undefined);
    this.#remember(event);
  }

  /** Events after `revision`, oldest first; undefined when some of them are discarded. */
  since(revision: number): readonly StoreEvent[] | undefined {
    if (revision < this.#compacted) return undefined;
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#history[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return this.#history.slice(low);
  }

  /** The entries as of `revision`, sorted by key; undefined when the history does not reach back that far. */
  at(revision: number, namespace?: string): readonly Entry[] | undefined {
    const later = this.since(revision);
    if (later === undefined) return undefined;
    const entries = new Map(this.list(namespace).map((entry) => [entry.key, entry]));
    for (const event of later.toReversed()) {
      if (namespace !== undefined && event.entry.namespace !== namespace) continue;
      if (event.previous === undefined) entries.delete(event.entry.key);
      else entries.set(event.entry.key, event.previous);
    }
    return [...entries.values()].sort(compareKeys);
  }

  /** Discards all events up to `revision`, as etcd's compaction does. */
  compact(revision: number): void {
    const kept = this.since(revision);
    if (kept === undefined) return;
    this.#history = [...kept];
    this.#compacted = Math.max(this.#compacted, revision);
  }

  #sorted(namespace: string | undefined): Sorted {
    const known = this.#lists.get(namespace);
    if (known !== undefined) return known;
    const buckets = namespace === undefined ? [...this.#buckets.values()] : [this.#buckets.get(namespace)];
    if (buckets[0] === undefined) return nothing;
    const list = sort(buckets.flatMap((bucket) => [...(bucket?.values() ?? [])]));
    this.#lists.set(namespace, list);
    return list;
  }

  #remember(event: StoreEvent): void {
    this.#history.push(event);
    // The history is trimmed in bulk, so that each event costs the same on average.
    if (this.#history.length <= this.#keptEvents * 2) return;
    this.#compacted = this.#history.at(-this.#keptEvents - 1)?.revision ?? this.#compacted;
    this.#history = this.#history.slice(-this.#keptEvents);
  }
}
