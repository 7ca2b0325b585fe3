import type { Logger } from '../../ports/logger.ts';
import { type JsonObject, decodeObject, decodeString, optionalString } from '../api/decode.ts';
import { WaitQueue } from '../transport/index.ts';
import type { ObjectKey, Store, StoreChange } from './store.ts';

/** Converts an API object to the form that a cache keeps; throws a DecodeError if the shape is wrong. */
export type Project<T> = (object: unknown, path: string) => T;

interface Entry<T> {
  readonly resourceVersion: string;
  readonly value: T;
}

/** An item of a list that is being read. It has no entry if it cannot be projected. */
export interface ListedObject<T> {
  readonly key: ObjectKey;
  readonly entry?: Entry<T>;
}

interface Identity {
  readonly key: ObjectKey;
  readonly resourceVersion: string;
}

const identify = (item: unknown): Identity => {
  const meta = decodeObject(decodeObject(item, 'object').metadata, 'metadata');
  const name = decodeString(meta.name, 'metadata.name');
  const namespace = optionalString(meta.namespace, 'metadata.namespace') ?? '';
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    resourceVersion: optionalString(meta.resourceVersion, 'metadata.resourceVersion') ?? '',
  };
};

/** Returns true if both have the same, non-empty resourceVersion: the same state, seen twice. */
const isSame = <T>(known: Entry<T> | undefined, resourceVersion: string): known is Entry<T> =>
  known !== undefined && resourceVersion !== '' && known.resourceVersion === resourceVersion;

/** The objects of an informer, which fills it. */
export class ObjectCache<T> implements Store<T> {
  readonly #convert: Project<T>;
  readonly #logger: Logger;
  readonly #listeners = new Set<(change: StoreChange<T>) => void>();
  readonly #waiting = new WaitQueue();
  #entries = new Map<ObjectKey, Entry<T>>();
  /** resourceVersions of objects that were logged as undecodable. */
  #broken = new Map<ObjectKey, string>();
  #synced = false;

  constructor(project: Project<T>, logger: Logger) {
    this.#convert = project;
    this.#logger = logger;
  }

  get synced(): boolean {
    return this.#synced;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: ObjectKey): T | undefined {
    return this.#entries.get(key)?.value;
  }

  *entries(): Iterable<readonly [ObjectKey, T]> {
    for (const [key, entry] of this.#entries) yield [key, entry.value];
  }

  subscribe(listener: (change: StoreChange<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#synced) await this.#waiting.join(signal);
  }

  /** Reads an item of a list; undefined if it has no identity. */
  read(item: unknown): ListedObject<T> | undefined {
    const identity = this.#identify(item);
    return identity && { key: identity.key, entry: this.#project(identity, item) };
  }

  /** Replaces the content of the store by a list in one step and announces the differences. */
  replace(items: readonly (ListedObject<T> | undefined)[]): void {
    const [before, broken] = [this.#entries, this.#broken];
    this.#entries = new Map();
    this.#broken = new Map();
    for (const item of items) {
      if (item === undefined) continue;
      const { key, entry } = item;
      const logged = broken.get(key);
      if (entry !== undefined) this.#entries.set(key, entry);
      if (logged !== undefined) this.#broken.set(key, logged);
    }
    this.#synced = true;
    this.#notifyDifference(before, this.#entries);
    this.#waiting.wakeAll();
  }

  set(object: JsonObject): void {
    const identity = this.#identify(object);
    if (identity === undefined) return;
    const { key } = identity;
    const previous = this.#entries.get(key);
    const entry = this.#project(identity, object);
    if (entry === undefined) return;
    this.#entries.set(key, entry);
    this.#notifySet(key, entry, { previous });
  }

  remove(object: JsonObject): void {
    const identity = this.#identify(object);
    if (identity === undefined) return;
    const { key } = identity;
    const known = this.#entries.get(key);
    // The event carries the last state. If that cannot be projected, the cached state is the last known one.
    const last = known && (this.#project(identity, object) ?? known);
    this.#broken.delete(key);
    if (last === undefined) return;
    this.#entries.delete(key);
    this.#notify({ type: 'deleted', key, value: last.value });
  }

  #identify(item: unknown): Identity | undefined {
    try {
      return identify(item);
    } catch (error) {
      this.#logger.error('an object without identity is ignored', { problem: String(error) });
      return undefined;
    }
  }

  /** Returns the new entry, or the known one if nothing changed or the new state cannot be projected; undefined if there is neither. */
  #project({ key, resourceVersion }: Identity, item: unknown): Entry<T> | undefined {
    const known = this.#entries.get(key);
    if (isSame(known, resourceVersion)) return known;
    try {
      const entry = { resourceVersion, value: this.#convert(item, key) };
      this.#broken.delete(key);
      return entry;
    } catch (error) {
      if (this.#broken.get(key) !== resourceVersion || resourceVersion === '') {
        this.#logger.error('an object cannot be read and is ignored', { object: key, problem: String(error) });
      }
      this.#broken.set(key, resourceVersion);
      return known;
    }
  }

  #notifyDifference(before: ReadonlyMap<ObjectKey, Entry<T>>, after: ReadonlyMap<ObjectKey, Entry<T>>): void {
    for (const [key, { value }] of before) {
      if (!after.has(key)) this.#notify({ type: 'deleted', key, value });
    }
    for (const [key, entry] of after) {
      this.#notifySet(key, entry, { previous: before.get(key), isListed: true });
    }
  }

  #notifySet(
    key: ObjectKey,
    entry: Entry<T>,
    { previous, ...how }: { readonly previous: Entry<T> | undefined } & Pick<StoreChange<T>, 'isListed'>,
  ): void {
    const { value } = entry;
    if (previous === undefined) this.#notify({ type: 'set', key, value });
    else if (previous !== entry) this.#notify({ type: 'set', key, value, previous: previous.value, ...how });
  }

  #notify(change: StoreChange<T>): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        this.#logger.error('a listener of the cache failed', { object: change.key, error });
      }
    }
  }
}
