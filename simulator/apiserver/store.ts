import { type Entry, createEntry } from './entry.ts';
import type { SimKind } from './kind.ts';
import { nextGeneration, tidyMetadata, tidyStatus } from './metadata.ts';
import { type JsonMap, type SimMeta, type SimObject, equalJson } from './object.ts';
import type { Origin } from './origin.ts';
import type { Storage } from './storage.ts';
import { newObject } from './write-create.ts';
import { type DeleteOptions, deleteEntry } from './write-delete.ts';
import { isReleased } from './write-update.ts';

/** Which object; `namespace` is left out for cluster-scoped kinds. */
export interface SimRef {
  readonly namespace?: string;
  readonly name: string;
}

export interface SimChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: SimObject;
  readonly previous?: SimObject;
}

/** What an actor writes: an object without what the server adds. */
export interface SimDraft extends Readonly<JsonMap> {
  readonly metadata: Readonly<JsonMap> & { readonly name: string; readonly namespace?: string };
}

/**
 * The server's objects without HTTP, JSON or validation, for the actors of a simulation (kubelets, controllers) and for set-up.
 *
 * Objects are shared, never copied: to change one, make a new one (spread) and hand it in. Writes through this door bump
 * resourceVersion and generation as requests do, reach watchers in the same order, and do nothing when nothing differs. Taking the last
 * finalizer of a deleted object removes it. They may change the spec and the status in one go.
 */
export interface SimStore {
  /** The revision of the last write. */
  readonly revision: number;
  get(kind: SimKind, ref: SimRef): SimObject | undefined;
  /** Sorted by namespace and name. Frozen, and the same while nothing of the kind changes. */
  list(kind: SimKind, namespace?: string): readonly SimObject[];
  /** Creates the object, or replaces it whole, status included. The namespace need not exist. */
  put(kind: SimKind, object: SimDraft): SimObject;
  /** Replaces the object by `change` of it; undefined when there is none. Returning the same object means no change. */
  patch(kind: SimKind, ref: SimRef, change: (object: SimObject) => SimDraft): SimObject | undefined;
  /** Removes the object at once, whatever its finalizers and grace period. False when there is none. */
  remove(kind: SimKind, ref: SimRef): boolean;
  /** Deletes as a DELETE request does: graceful, held back by finalizers. False when there is none. */
  delete(kind: SimKind, ref: SimRef, options?: DeleteOptions): boolean;
  /**
   * `listener` hears every later change, synchronously, in the order of revisions, after the store shows it; what a listener writes is
   * told after the change it is hearing. It must not throw. Returns the unsubscribe function.
   */
  subscribe(kind: SimKind, listener: (change: SimChange) => void, namespace?: string): () => void;
  /** Forgets the past, as etcd's compaction does: watches and pages of older revisions (default: all) are answered with 410. */
  compact(revision?: number): void;
}

/** The metadata of `draft`, but for what belongs to the server. What came from the store is as the store wants it. */
const replacedMetadata = ({ metadata }: SimObject, draft: SimDraft): Readonly<JsonMap> => {
  if (draft.metadata === metadata) return metadata;
  const { uid, creationTimestamp, resourceVersion } = metadata;
  return tidyMetadata({ ...draft.metadata, uid, creationTimestamp, resourceVersion });
};

const replaced = (entry: Entry, draft: SimDraft): Readonly<JsonMap> & { readonly metadata: SimMeta } => {
  const { kind, object } = entry;
  const metadata = replacedMetadata(object, draft);
  const next = tidyStatus(kind, { ...draft, apiVersion: object.apiVersion, kind: object.kind, metadata });
  const generation = nextGeneration(kind, object, next) ?? object.metadata.generation;
  const isCounted = generation !== undefined && generation !== metadata.generation;
  return { ...next, metadata: (isCounted ? { ...metadata, generation } : metadata) as SimMeta };
};

export const createStore = (storage: Storage, origin: Origin): SimStore => {
  const find = (kind: SimKind, ref: SimRef): Entry | undefined =>
    storage.collection(kind).get(ref.namespace ?? '', ref.name);

  const replace = (entry: Entry, draft: SimDraft): SimObject => {
    if (draft === (entry.object as SimDraft)) return entry.object;
    const next = replaced(entry, draft);
    if (equalJson(entry.object, next)) return entry.object;
    if (!isReleased(next)) return storage.put(entry.kind, next).object;
    return storage.remove(createEntry(entry.kind, next as unknown as SimObject, entry.revision)).object;
  };

  const add = (kind: SimKind, draft: SimDraft): SimObject => {
    const namespace = draft.metadata.namespace ?? '';
    const object = newObject({ kind, namespace, wanted: draft }, origin);
    const status = draft.status === undefined ? {} : { status: draft.status };
    return storage.put(kind, { ...object, ...status }).object;
  };

  return {
    get revision() {
      return storage.revision;
    },
    get: (kind, ref) => find(kind, ref)?.object,
    list: (kind, namespace) => storage.collection(kind).objects(namespace),
    put(kind, draft) {
      const entry = find(kind, draft.metadata);
      return entry === undefined ? add(kind, draft) : replace(entry, draft);
    },
    patch(kind, ref, change) {
      const entry = find(kind, ref);
      return entry === undefined ? undefined : replace(entry, change(entry.object));
    },
    remove(kind, ref) {
      const entry = find(kind, ref);
      if (entry !== undefined) storage.remove(entry);
      return entry !== undefined;
    },
    delete(kind, ref, options = {}) {
      const entry = find(kind, ref);
      if (entry !== undefined) deleteEntry(storage, entry, { options, origin });
      return entry !== undefined;
    },
    subscribe: (kind, listener, namespace) =>
      storage.subscribe(kind, namespace, ({ type, entry, previous }) =>
        listener({ type, object: entry.object, ...(previous === undefined ? {} : { previous: previous.object }) }),
      ),
    compact: (revision = storage.revision) => storage.compact(revision),
  };
};
