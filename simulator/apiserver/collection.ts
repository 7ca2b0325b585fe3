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

/** Holds an object's position while the object changes, so that only creations and deletions invalidate the order. */
interface Slot {
  entry: Entry;
}

/** Slots in order. Entries and objects are those of the slots, cached until one of them changes. */
interface Sorted {
  readonly slots: readonly Slot[];
  entries: readonly Entry[] | undefined;
  objects: readonly SimObject[] | undefined;
}

interface Bucket {
  readonly byName: Map<string, Slot>;
  sorted: Sorted | undefined;
}

const compareKeys = (a: Entry, b: Entry): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
const compareSlots = (a: Slot, b: Slot): number => compareKeys(a.entry, b.entry);

const sort = (slots: Slot[]): Sorted => ({ slots: slots.sort(compareSlots), entries: undefined, objects: undefined });

const entriesOf = (sorted: Sorted): readonly Entry[] => {
  sorted.entries ??= Object.freeze(sorted.slots.map(({ entry }) => entry));
  return sorted.entries;
};

const objectsOf = (sorted: Sorted): readonly SimObject[] => {
  sorted.objects ??= Object.freeze(sorted.slots.map(({ entry }) => entry.object));
  return sorted.objects;
};

const forget = (sorted: Sorted | undefined): void => {
  if (sorted === undefined) return;
  sorted.entries = undefined;
  sorted.objects = undefined;
};

const nothing: Sorted = { slots: [], entries: Object.freeze([]), objects: Object.freeze([]) };

/** The objects of one kind, in the order of etcd's keys, and their recent history. */
export class Collection {
  readonly #buckets = new Map<string, Bucket>();
  readonly #keptEvents: number;
  #everything: Sorted | undefined;
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
    return this.#buckets.get(namespace)?.byName.get(name)?.entry;
  }

  /** Entries sorted by key, of all namespaces or of one. The array is frozen, and the same one until an entry changes. */
  list(namespace?: string): readonly Entry[] {
    return entriesOf(this.#sorted(namespace));
  }

  /** The objects of `list`. */
  objects(namespace?: string): readonly SimObject[] {
    return objectsOf(this.#sorted(namespace));
  }

  apply(event: StoreEvent): void {
    const { entry } = event;
    const bucket = this.#bucket(entry.namespace);
    const slot = bucket.byName.get(entry.name);
    if (event.type === 'DELETED') {
      bucket.byName.delete(entry.name);
      if (bucket.byName.size === 0) this.#buckets.delete(entry.namespace);
      this.#forgetOrder(bucket);
    } else if (slot === undefined) {
      bucket.byName.set(entry.name, { entry });
      this.#forgetOrder(bucket);
    } else {
      slot.entry = entry;
      forget(bucket.sorted);
      forget(this.#everything);
    }
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
    if (namespace === undefined) {
      this.#everything ??= sort([...this.#buckets.values()].flatMap((bucket) => [...bucket.byName.values()]));
      return this.#everything;
    }
    const bucket = this.#buckets.get(namespace);
    if (bucket === undefined) return nothing;
    bucket.sorted ??= sort([...bucket.byName.values()]);
    return bucket.sorted;
  }

  #bucket(namespace: string): Bucket {
    const bucket = this.#buckets.get(namespace) ?? { byName: new Map(), sorted: undefined };
    this.#buckets.set(namespace, bucket);
    return bucket;
  }

  #forgetOrder(bucket: Bucket): void {
    bucket.sorted = undefined;
    this.#everything = undefined;
  }

  #remember(event: StoreEvent): void {
    this.#history.push(event);
    // The history is trimmed in bulk, so that each event costs the same on average.
    if (this.#history.length <= this.#keptEvents * 2) return;
    this.#compacted = this.#history.at(-this.#keptEvents - 1)?.revision ?? this.#compacted;
    this.#history = this.#history.slice(-this.#keptEvents);
  }
}
