import type { StoreEvent } from './collection.ts';
import { createEntry, type Entry, entryText, type Form } from './entry.ts';
import { apiVersionOf, type SimKind } from './kind.ts';
import type { Status } from './status.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** What one watcher is sent, event by event, each a line. */
export interface WatchLines {
  ofChange(event: StoreEvent, type: EventType): Uint8Array;
  /** ADDED, of an object that is there from the start. */
  ofPresent(entry: Entry): Uint8Array;
  /** `initial`: after the present objects. */
  ofBookmark(revision: number, initial: boolean): Uint8Array;
}

const line = (type: string, object: string): Uint8Array => Buffer.from(`{"type":"${type}","object":${object}}\n`);

export const errorLine = (status: Status): Uint8Array => line('ERROR', JSON.stringify(status));

/** The state that left the selection, under the revision of the change. */
const departed = (event: StoreEvent): Entry => {
  const { previous, revision } = event;
  if (event.type === 'DELETED' || previous === undefined) return event.entry;
  const metadata = { ...previous.object.metadata, resourceVersion: String(revision) };
  return createEntry(previous.kind, { ...previous.object, metadata }, revision);
};

const stateIn = (event: StoreEvent, type: EventType): Entry => (type === 'DELETED' ? departed(event) : event.entry);

const sharedLine = (event: StoreEvent, type: EventType, form: Form): Uint8Array => {
  const key = `${type}/${form}`;
  const known = event.chunks?.get(key);
  if (known !== undefined) return known;
  const chunk = line(type, entryText(stateIn(event, type), form));
  event.chunks ??= new Map();
  event.chunks.set(key, chunk);
  return chunk;
};

const bookmarkMetadata = (revision: number, initial: boolean) => ({
  resourceVersion: String(revision),
  creationTimestamp: null,
  ...(initial ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
});

export const watchLines = (kind: SimKind, form: Form): WatchLines => ({
  ofChange: (event, type) => sharedLine(event, type, form),
  ofPresent: (entry) => line('ADDED', entryText(entry, form)),
  ofBookmark: (revision, initial) => {
    const type =
      form === 'metadata'
        ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
        : { kind: kind.kind, apiVersion: apiVersionOf(kind) };
    return line('BOOKMARK', JSON.stringify({ ...type, metadata: bookmarkMetadata(revision, initial) }));
  },
});
