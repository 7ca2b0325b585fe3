import type { Entry } from './entry.ts';
import type { SimObject } from './object.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** The new state; for DELETED the last one, under the revision of its deletion. */
  readonly entry: Entry;
  readonly previous: Entry | undefined;
  /** Texts of this event on the wire, shared by all watchers. Filled on first use: most events are watched by nobody. */
  chunks: Map<string, Uint8Array> | undefined;
}

export interface HistoryLimits {
  /** Events that are kept for watches and lists of the past. */
  readonly events: number;
  /** What happened up to this revision is not known. */
  readonly forgotten: number;
}

/** The objects of one kind, in the order of etcd's keys, and their recent past. */
export interface Collection {
  get(namespace: string, name: string): Entry | undefined;
  /** Sorted by key; of one namespace when it is given. Frozen, and the same until something changes. */
  list(namespace?: string): readonly Entry[];
  /** The objects of `list`. */
  objects(namespace?: string): readonly SimObject[];
  apply(event: StoreEvent): void;
  /** Events after `revision`, oldest first; undefined when some of them are forgotten. */
  since(revision: number): readonly StoreEvent[] | undefined;
  /** The sorted states as of `revision`; undefined when that is forgotten. */
  at(revision: number, namespace?: string): readonly Entry[] | undefined;
  /** Everything up to here is forgotten. */
  readonly compacted: number;
  /** Forgets every event up to `revision`, as etcd's compaction does. */
  compact(revision: number): void;
  readonly size: number;
}

/** Keeps its place while the object changes, so that only creations and deletions make the order stale. */
interface Slot {
  entry: Entry;
}

/** Entries and objects are those of the slots, until one of them changes. */
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

export const createCollection = (limits: HistoryLimits): Collection => {
  const buckets = new Map<string, Bucket>();
  let everything: Sorted | undefined;
  let history: StoreEvent[] = [];
  /** Everything up to here is forgotten. */
  let compacted = limits.forgotten;
  let size = 0;

  const sortedOf = (namespace: string | undefined): Sorted => {
    if (namespace === undefined) {
      everything ??= sort([...buckets.values()].flatMap((bucket) => [...bucket.byName.values()]));
      return everything;
    }
    const bucket = buckets.get(namespace);
    if (bucket === undefined) return nothing;
    bucket.sorted ??= sort([...bucket.byName.values()]);
    return bucket.sorted;
  };

  const list = (namespace?: string): readonly Entry[] => entriesOf(sortedOf(namespace));

  const bucketOf = (namespace: string): Bucket => {
    const found = buckets.get(namespace);
    if (found !== undefined) return found;
    const bucket: Bucket = { byName: new Map(), sorted: undefined };
    buckets.set(namespace, bucket);
    return bucket;
  };

  const remember = (event: StoreEvent): void => {
    history.push(event);
    // Trimmed in bulk, so that each event costs the same on average.
    if (history.length > limits.events * 2) {
      compacted = history[history.length - limits.events - 1]?.revision ?? compacted;
      history = history.slice(-limits.events);
    }
  };

  const since = (revision: number): readonly StoreEvent[] | undefined => {
    if (revision < compacted) return undefined;
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((history[middle]?.revision ?? 0) > revision) high = middle;
      else low = middle + 1;
    }
    return history.slice(low);
  };

  const forgetOrder = (bucket: Bucket): void => {
    bucket.sorted = undefined;
    everything = undefined;
  };

  const apply = (event: StoreEvent): void => {
    const { entry } = event;
    const bucket = bucketOf(entry.namespace);
    const slot = bucket.byName.get(entry.name);
    if (event.type === 'DELETED') {
      bucket.byName.delete(entry.name);
      if (bucket.byName.size === 0) buckets.delete(entry.namespace);
      forgetOrder(bucket);
      size -= 1;
    } else if (slot === undefined) {
      bucket.byName.set(entry.name, { entry });
      forgetOrder(bucket);
      size += 1;
    } else {
      slot.entry = entry;
      forget(bucket.sorted);
      forget(everything);
    }
    remember(event);
  };

  return {
    get: (namespace, name) => buckets.get(namespace)?.byName.get(name)?.entry,
    list,
    objects: (namespace) => objectsOf(sortedOf(namespace)),
    apply,
    since,
    at(revision, namespace) {
      const later = since(revision);
      if (later === undefined) return undefined;
      const entries = new Map(list(namespace).map((entry) => [entry.key, entry]));
      for (const event of [...later].reverse()) {
        if (namespace !== undefined && event.entry.namespace !== namespace) continue;
        if (event.previous === undefined) entries.delete(event.entry.key);
        else entries.set(event.entry.key, event.previous);
      }
      return [...entries.values()].sort(compareKeys);
    },
    compact(revision) {
      const kept = since(revision);
      if (kept === undefined) return;
      history = [...kept];
      compacted = Math.max(compacted, revision);
    },
    get compacted() {
      return compacted;
    },
    get size() {
      return size;
    },
  };
};
