import type { StoreEvent } from './collection.ts';
import { type Entry, createEntry, entryText } from './entry.ts';
import { type SimKind, apiVersionOf } from './kind.ts';
import type { Status } from './status.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Builds the events of a watch as they are sent, one line each. */
export interface WatchLines {
  ofChange(event: StoreEvent, type: EventType): Uint8Array;
  /** ADDED event of an object that exists when the watch starts. */
  ofPresent(entry: Entry): Uint8Array;
  /** BOOKMARK event. */
  ofBookmark(revision: number): Uint8Array;
}

const line = (type: string, object: string): Uint8Array => Buffer.from(`{"type":"${type}","object":${object}}\n`);

export const errorLine = (status: Status): Uint8Array => line('ERROR', JSON.stringify(status));

/** Returns the last state in the selection, with the revision of the change that ended it. */
const departed = (event: StoreEvent): Entry => {
  const { previous, revision } = event;
  if (event.type === 'DELETED' || previous === undefined) return event.entry;
  const metadata = { ...previous.object.metadata, resourceVersion: String(revision) };
  return createEntry(previous.kind, { ...previous.object, metadata }, revision);
};

const stateIn = (event: StoreEvent, type: EventType): Entry => (type === 'DELETED' ? departed(event) : event.entry);

const sharedLine = (event: StoreEvent, type: EventType): Uint8Array => {
  const known = event.chunks?.get(type);
  if (known !== undefined) return known;
  const chunk = line(type, entryText(stateIn(event, type)));
  event.chunks ??= new Map();
  event.chunks.set(type, chunk);
  return chunk;
};

export const watchLines = (kind: SimKind): WatchLines => ({
  ofChange: sharedLine,
  ofPresent: (entry) => line('ADDED', entryText(entry)),
  ofBookmark: (revision) => {
    const metadata = { resourceVersion: String(revision), creationTimestamp: null };
    return line('BOOKMARK', JSON.stringify({ kind: kind.kind, apiVersion: apiVersionOf(kind), metadata }));
  },
});
