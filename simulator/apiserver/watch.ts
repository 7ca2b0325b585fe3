import type { Clock } from '../../src/ports/clock.ts';
import type { SeededRandom } from '../time/index.ts';
import type { StoreEvent } from './collection.ts';
import { type Entry, createEntry, entryText } from './entry.ts';
import type { ServedExchange } from './exchange.ts';
import { type SimKind, apiVersionOf } from './kind.ts';
import type { StoreListOptions } from './read-options.ts';
import { type Status, failure } from './status.ts';
import type { Storage } from './storage.ts';
import { type ByteStream, createByteStream } from './stream.ts';

type EventType = StoreEvent['type'];

const line = (type: string, object: string): Uint8Array => Buffer.from(`{"type":"${type}","object":${object}}\n`);

const errorLine = (status: Status): Uint8Array => line('ERROR', JSON.stringify(status));

/** Returns the last state in the selection, with the revision of the change that ended it. */
const departed = (event: StoreEvent): Entry => {
  const { previous, revision } = event;
  if (event.type === 'DELETED' || previous === undefined) return event.entry;
  const metadata = { ...previous.object.metadata, resourceVersion: String(revision) };
  return createEntry(previous.kind, { ...previous.object, metadata }, revision);
};

const stateIn = (event: StoreEvent, type: EventType): Entry => (type === 'DELETED' ? departed(event) : event.entry);

/** The event of a change as it is sent, one line. */
const changeLine = (event: StoreEvent, type: EventType): Uint8Array => {
  const known = event.chunks?.get(type);
  if (known !== undefined) return known;
  const chunk = line(type, entryText(stateIn(event, type)));
  event.chunks ??= new Map();
  event.chunks.set(type, chunk);
  return chunk;
};

const bookmarkLine = (kind: SimKind, revision: number): Uint8Array => {
  const metadata = { resourceVersion: String(revision), creationTimestamp: null };
  return line('BOOKMARK', JSON.stringify({ kind: kind.kind, apiVersion: apiVersionOf(kind), metadata }));
};

export interface WatchRequest {
  readonly kind: SimKind;
  readonly namespace?: string;
  readonly options: StoreListOptions;
}

export interface WatchHost {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: SeededRandom;
}

const bookmarkMs = 60_000;
/** Time between the last bookmark and the end of the watch. */
const lastBookmarkMs = 2_000;
/** `--min-request-timeout`: watches without timeoutSeconds end after one to two of these. */
const minRequestTimeoutMs = 1_800_000;

/** Returns the event type for a watch with a selection, in which an object is added or deleted when it starts or stops matching. */
const typeFor = (event: StoreEvent, { selection }: StoreListOptions): EventType | undefined => {
  if (selection.all) return event.type;
  if (selection.name !== undefined && selection.name !== event.entry.name) return undefined;
  const before = event.previous !== undefined && selection.matches(event.previous.object);
  const after = event.type !== 'DELETED' && selection.matches(event.entry.object);
  if (after) return before ? 'MODIFIED' : 'ADDED';
  return before ? 'DELETED' : undefined;
};

const expiredStatus = (asked: number, oldest: number): Status =>
  failure({ code: 410, reason: 'Expired', message: `too old resource version: ${asked} (${oldest})` });

/** Sends the first events of a watch: those since its version, or the current objects as ADDED. Returns false if the version is too old. */
const replay = (storage: Storage, request: WatchRequest, stream: ByteStream): boolean => {
  const { kind, namespace, options } = request;
  const collection = storage.collection(kind);
  const from = options.resourceVersion ?? 0;
  // As in SetListOptionsDefaults, a watch without a version, or with version 0, requests the initial events.
  if (from === 0) {
    for (const entry of collection.list(namespace)) {
      if (options.selection.all || options.selection.matches(entry.object)) {
        stream.push(line('ADDED', entryText(entry)));
      }
    }
    return true;
  }
  const missed = collection.since(from);
  if (missed === undefined) {
    stream.push(errorLine(expiredStatus(from, collection.compacted)));
    return false;
  }
  for (const event of missed) {
    if (namespace !== undefined && event.entry.namespace !== namespace) continue;
    const type = typeFor(event, options);
    if (type !== undefined) stream.push(changeLine(event, type));
  }
  return true;
};

/** Sends bookmarks once a minute, the last one shortly before `lifetimeMs` is over. Returns the function that stops them. */
const scheduleBookmarks = (clock: Clock, lifetimeMs: number, send: () => void): (() => void) => {
  const last = lifetimeMs - lastBookmarkMs;
  const start = clock.monotonic();
  let cancel: () => void = () => undefined;
  const schedule = (): void => {
    const left = last - (clock.monotonic() - start);
    if (left <= 0) return;
    // Nothing is scheduled after the last bookmark: rounding may leave a `left` so small that time would never advance.
    const next = left <= bookmarkMs ? () => undefined : schedule;
    cancel = clock.timer(Math.min(bookmarkMs, left), () => {
      send();
      next();
    });
  };
  schedule();
  return () => cancel();
};

/**
 * Returns the body of a watch, one JSON event per line. It ends after `timeoutSeconds` (by default a random time of half an hour to an
 * hour), when its exchange ends, when its reader stops, or with an ERROR event if its version is too old.
 */
export const openWatch = (
  host: WatchHost,
  request: WatchRequest,
  exchange: ServedExchange,
): AsyncIterable<Uint8Array> => {
  const { storage, clock, random } = host;
  const { kind, namespace, options } = request;
  const stopping: (() => void)[] = [];
  const close = (): void => {
    for (const stop of stopping.splice(0)) stop();
    exchange.finish();
  };
  const stream = createByteStream(close);
  const end = (): void => {
    close();
    stream.end();
  };
  const cut = (): void => {
    close();
    stream.fail(exchange.signal.reason);
  };
  if (!replay(storage, request, stream)) {
    end();
    return stream.body;
  }
  const since = Math.max(options.resourceVersion ?? 0, 0);
  const hear = (event: StoreEvent): void => {
    const type = event.revision > since ? typeFor(event, options) : undefined;
    if (type === undefined) return;
    stream.push(changeLine(event, type));
  };
  const lifetimeMs =
    options.timeoutSeconds === undefined || options.timeoutSeconds <= 0
      ? minRequestTimeoutMs * (1 + random.next())
      : options.timeoutSeconds * 1000;
  stopping.push(storage.subscribe(kind, namespace, hear), clock.timer(lifetimeMs, end));
  const sendBookmark = (): void => {
    if (storage.revision >= since) stream.push(bookmarkLine(kind, storage.revision));
  };
  if (options.bookmarks) stopping.push(scheduleBookmarks(clock, lifetimeMs, sendBookmark));
  exchange.signal.addEventListener('abort', cut, { once: true });
  stopping.push(() => exchange.signal.removeEventListener('abort', cut));
  if (exchange.signal.aborted) cut();
  return stream.body;
};
