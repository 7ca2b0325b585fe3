import type { Logger } from '../../ports/logger.ts';
import { type JsonObject, decodeObject, decodeString, optionalString } from '../api/decode.ts';
import type { ObjectKey, Store, StoreChange } from './store.ts';

/** Turns an object of the API into what is kept of it; throws (a DecodeError) when it has not the shape it must have. */
export type Project<T> = (object: unknown, path: string) => T;

interface Entry<T> {
  readonly resourceVersion: string;
  readonly value: T;
}

/** A list being read, page by page; nothing of it shows before `commit`. */
export interface Replacement {
  add(item: unknown): void;
  /** Makes the list the content of the store in one step and reports what differs. */
  commit(): void;
}

/** The content of an informer, kept apart from how it gets there. */
export interface ObjectCache<T> {
  readonly store: Store<T>;
  readonly size: number;
  /** Objects that could not be projected and are left out, or shown in their last good state. */
  readonly undecodable: number;
  replace(): Replacement;
  set(object: JsonObject): void;
  remove(object: JsonObject): void;
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

/** Same non-empty version: the same object, seen twice. */
const isSame = <T>(known: Entry<T> | undefined, resourceVersion: string): known is Entry<T> =>
  known !== undefined && resourceVersion !== '' && known.resourceVersion === resourceVersion;

export const createObjectCache = <T>(project: Project<T>, logger: Logger): ObjectCache<T> => {
  let entries = new Map<ObjectKey, Entry<T>>();
  /** Versions of objects that were logged as broken. */
  let broken = new Map<ObjectKey, string>();
  let synced = false;
  const listeners = new Set<(change: StoreChange<T>) => void>();
  const syncWaiters = new Set<() => void>();

  const notify = (change: StoreChange<T>): void => {
    for (const listener of [...listeners]) {
      try {
        listener(change);
      } catch (error) {
        logger.error('a listener of the cache failed', { object: change.key, error });
      }
    }
  };

  /** The new entry; the known one when nothing changed or the new state cannot be projected; undefined when there is neither. */
  const read = (
    { key, resourceVersion }: Identity,
    item: unknown,
    into: Map<ObjectKey, string>,
  ): Entry<T> | undefined => {
    const known = entries.get(key);
    if (isSame(known, resourceVersion)) return known;
    try {
      const entry = { resourceVersion, value: project(item, key) };
      into.delete(key);
      return entry;
    } catch (error) {
      if (broken.get(key) !== resourceVersion || resourceVersion === '') {
        logger.error('an object cannot be read and is ignored', { object: key, problem: String(error) });
      }
      into.set(key, resourceVersion);
      return known;
    }
  };

  const identified = (item: unknown): Identity | undefined => {
    try {
      return identify(item);
    } catch (error) {
      logger.error('an object without identity is ignored', { problem: String(error) });
      return undefined;
    }
  };

  const reportDifference = (
    before: ReadonlyMap<ObjectKey, Entry<T>>,
    after: ReadonlyMap<ObjectKey, Entry<T>>,
  ): void => {
    for (const [key, { value }] of before) {
      if (!after.has(key)) notify({ type: 'deleted', key, value });
    }
    for (const [key, entry] of after) {
      const previous = before.get(key);
      if (previous === undefined) notify({ type: 'set', key, value: entry.value });
      else if (previous !== entry) notify({ type: 'set', key, value: entry.value, previous: previous.value });
    }
  };

  const replace = (): Replacement => {
    const next = new Map<ObjectKey, Entry<T>>();
    const nextBroken = new Map<ObjectKey, string>();
    return {
      add: (item) => {
        const identity = identified(item);
        if (identity === undefined) return;
        const entry = read(identity, item, nextBroken);
        if (entry !== undefined) next.set(identity.key, entry);
      },
      commit: () => {
        const before = entries;
        entries = next;
        broken = nextBroken;
        synced = true;
        reportDifference(before, next);
        for (const wake of [...syncWaiters]) wake();
      },
    };
  };

  const set = (object: JsonObject): void => {
    const identity = identified(object);
    if (identity === undefined) return;
    const { key } = identity;
    const previous = entries.get(key);
    const entry = read(identity, object, broken);
    if (entry === undefined || entry === previous) return;
    entries.set(key, entry);
    notify({ type: 'set', key, value: entry.value, ...(previous === undefined ? {} : { previous: previous.value }) });
  };

  const remove = (object: JsonObject): void => {
    const identity = identified(object);
    if (identity === undefined) return;
    const { key } = identity;
    const known = entries.get(key);
    // The event carries the last state; where that cannot be read, ours is the last known.
    const last = known === undefined ? undefined : (read(identity, object, broken) ?? known);
    broken.delete(key);
    if (last === undefined) return;
    entries.delete(key);
    notify({ type: 'deleted', key, value: last.value });
  };

  const whenSynced = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const leave = (): void => {
        syncWaiters.delete(wake);
        signal.removeEventListener('abort', abort);
      };
      const wake = (): void => {
        leave();
        resolve();
      };
      const abort = (): void => {
        leave();
        reject(signal.reason);
      };
      if (signal.aborted) abort();
      else if (synced) wake();
      else {
        syncWaiters.add(wake);
        signal.addEventListener('abort', abort);
      }
    });

  const store: Store<T> = {
    get synced() {
      return synced;
    },
    get: (key) => entries.get(key)?.value,
    *entries() {
      for (const [key, entry] of entries) yield [key, entry.value] as const;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    whenSynced,
  };

  return {
    store,
    get size() {
      return entries.size;
    },
    get undecodable() {
      return broken.size;
    },
    replace,
    set,
    remove,
  };
};
