import { type Entry, createEntry } from './entry.ts';
import type { SimKind } from './kind.ts';
import { nextGeneration, tidyMetadata, tidyStatus } from './metadata.ts';
import { type JsonMap, type SimMeta, type SimObject, equalJson } from './object.ts';
import type { ServerOrigin } from './origin.ts';
import type { Storage } from './storage.ts';
import { newObject } from './write-create.ts';
import { type DeleteOptions, deleteEntry } from './write-delete.ts';
import { isReleased } from './write-update.ts';

/** Reference to an object; `namespace` is absent for cluster-scoped kinds. */
export interface SimRef {
  readonly namespace?: string;
  readonly name: string;
}

export interface SimChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: SimObject;
  readonly previous: SimObject | undefined;
}

/** An object that an actor writes, without the fields that the server adds. */
export interface SimDraft extends Readonly<JsonMap> {
  readonly metadata: Readonly<JsonMap> & { readonly name: string; readonly namespace?: string };
}

/** Returns the metadata of `draft` with the fields that the server owns. Metadata that is the stored object's own is used as it is. */
const replacedMetadata = ({ metadata }: SimObject, draft: SimDraft): Readonly<JsonMap> => {
  if (draft.metadata === metadata) return metadata;
  const { uid, creationTimestamp, resourceVersion } = metadata;
  const { managedFields = metadata.managedFields } = draft.metadata;
  return tidyMetadata({ ...draft.metadata, uid, creationTimestamp, resourceVersion, managedFields });
};

const replaced = (entry: Entry, draft: SimDraft): Readonly<JsonMap> & { readonly metadata: SimMeta } => {
  const { kind, object } = entry;
  const metadata = replacedMetadata(object, draft);
  const next = tidyStatus(kind, { ...draft, apiVersion: object.apiVersion, kind: object.kind, metadata });
  const generation = nextGeneration(kind, object, next) ?? object.metadata.generation;
  const isCounted = generation !== undefined && generation !== metadata.generation;
  return { ...next, metadata: (isCounted ? { ...metadata, generation } : metadata) as SimMeta };
};

/**
 * Access to the server's objects without HTTP, JSON or validation, for the actors of a simulation (kubelets, controllers) and for set-up.
 *
 * Objects are shared, never copied: to change one, pass a new object (spread). As with requests, a write increases resourceVersion and
 * generation, reaches watchers in order, and does nothing if nothing differs; removing the last finalizer of a deleted object removes
 * the object. Unlike a request, a write may change spec and status together.
 */
export class SimStore {
  readonly #storage: Storage;
  readonly #origin: ServerOrigin;

  constructor(storage: Storage, origin: ServerOrigin) {
    this.#storage = storage;
    this.#origin = origin;
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#storage.revision;
  }

  get(kind: SimKind, ref: SimRef): SimObject | undefined {
    return this.#find(kind, ref)?.object;
  }

  /** Objects sorted by namespace and name. The array is frozen, and the same one until an object of the kind changes. */
  list(kind: SimKind, namespace?: string): readonly SimObject[] {
    return this.#storage.collection(kind).objects(namespace);
  }

  /** Creates the object, or replaces all of it, status included. The namespace need not exist. */
  put(kind: SimKind, draft: SimDraft): SimObject {
    const entry = this.#find(kind, draft.metadata);
    return entry === undefined ? this.#add(kind, draft) : this.#replace(entry, draft);
  }

  /** Replaces the object by the result of `change`; returns undefined if it does not exist. The same object as a result means no change. */
  patch(kind: SimKind, ref: SimRef, change: (object: SimObject) => SimDraft): SimObject | undefined {
    const entry = this.#find(kind, ref);
    return entry && this.#replace(entry, change(entry.object));
  }

  /** Removes the object at once, in spite of finalizers and grace period. Returns false if it does not exist. */
  remove(kind: SimKind, ref: SimRef): boolean {
    const entry = this.#find(kind, ref);
    if (entry !== undefined) this.#storage.remove(entry);
    return entry !== undefined;
  }

  /** Deletes as a DELETE request does: graceful, held back by finalizers. Returns false if the object does not exist. */
  delete(kind: SimKind, ref: SimRef, options: DeleteOptions = {}): boolean {
    const entry = this.#find(kind, ref);
    if (entry !== undefined) deleteEntry(this.#storage, entry, { options, origin: this.#origin });
    return entry !== undefined;
  }

  /**
   * Calls `listener` for every later change: synchronously, in the order of revisions, after the store shows it. A listener's own write
   * is delivered after the change that it is handling. It must not throw. Returns the unsubscribe function.
   */
  subscribe(kind: SimKind, listener: (change: SimChange) => void, namespace?: string): () => void {
    return this.#storage.subscribe(kind, namespace, ({ type, entry, previous }) =>
      listener({ type, object: entry.object, previous: previous?.object }),
    );
  }

  /** Discards the history so far, as etcd's compaction does: watches and pages of older revisions get a 410. */
  compact(): void {
    this.#storage.compact(this.#storage.revision);
  }

  #find(kind: SimKind, { namespace = '', name }: SimRef): Entry | undefined {
    return this.#storage.collection(kind).get(namespace, name);
  }

  #replace(entry: Entry, draft: SimDraft): SimObject {
    if (draft === (entry.object as SimDraft)) return entry.object;
    const next = replaced(entry, draft);
    if (equalJson(entry.object, next)) return entry.object;
    if (!isReleased(next)) return this.#storage.put(entry.kind, next).object;
    return this.#storage.remove(createEntry(entry.kind, next as unknown as SimObject, entry.revision)).object;
  }

  #add(kind: SimKind, draft: SimDraft): SimObject {
    const namespace = draft.metadata.namespace ?? '';
    const object = newObject({ kind, namespace, wanted: draft }, this.#origin);
    const status = draft.status === undefined ? {} : { status: draft.status };
    return this.#storage.put(kind, { ...object, ...status }).object;
  }
}
