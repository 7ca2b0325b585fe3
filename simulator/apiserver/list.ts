import { type Entry, entryProtobuf, itemText } from './entry.ts';
import { type SimKind, apiVersionOf } from './kind.ts';
import { listProtobuf } from './kube-protobuf.ts';
import type { JsonMap } from './object.ts';
import type { StoreListOptions } from './read-options.ts';
import { type WholeReply, jsonReply, protobufReply } from './reply.ts';
import { expired, tooLargeVersion } from './status.ts';
import type { Storage } from './storage.ts';

export interface ListRequest {
  readonly kind: SimKind;
  readonly namespace?: string;
  readonly options: StoreListOptions;
  readonly protobuf: boolean;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly continue?: string;
  readonly remaining?: number;
}

interface Token {
  readonly revision: number;
  /** Last key of the pages so far. */
  readonly after: string;
}

const encodeToken = (token: Token): string => Buffer.from(JSON.stringify(token)).toString('base64url');

/** Clients return a token as they got it. */
const decodeToken = (text: string): Token => JSON.parse(Buffer.from(text, 'base64url').toString()) as Token;

const expiredToken = 'The provided continue parameter is too old to display a consistent list result.';

interface Snapshot {
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly after: string;
}

const snapshotOf = (storage: Storage, { kind, namespace, options }: ListRequest): Snapshot => {
  const collection = storage.collection(kind);
  if (options.continue === '') return { entries: collection.list(namespace), revision: storage.revision, after: '' };
  const { revision, after } = decodeToken(options.continue);
  const entries = collection.at(revision, namespace);
  if (entries === undefined) throw expired(expiredToken);
  return { entries, revision, after };
};

const pageOf = (storage: Storage, request: ListRequest): Page => {
  const { options } = request;
  const { selection } = options;
  const { entries, revision, after } = snapshotOf(storage, request);
  const rest = after === '' ? entries : entries.filter((entry) => entry.key > after);
  const matching = selection.all
    ? rest
    : rest.filter((entry) => (selection.name ?? entry.name) === entry.name && selection.matches(entry.object));
  const { limit } = options;
  if (limit === 0 || matching.length <= limit) return { entries: matching, revision };
  const shown = matching.slice(0, limit);
  return {
    entries: shown,
    revision,
    continue: encodeToken({ revision, after: shown.at(-1)?.key ?? '' }),
    ...(selection.all ? { remaining: matching.length - limit } : {}),
  };
};

const metadataOf = (page: Page, { custom }: SimKind): JsonMap => ({
  resourceVersion: String(page.revision),
  ...(page.continue !== undefined || custom ? { continue: page.continue ?? '' } : {}),
  ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
});

/**
 * Handles GET of a collection, except watches: in protobuf if the client prefers it and the kind has it, else in JSON. Throws a
 * StatusError for a revision that is no longer in the history (410 Expired), or not yet (504 Timeout).
 */
export const readList = (storage: Storage, request: ListRequest): WholeReply => {
  const { kind, protobuf, options } = request;
  const { resourceVersion = 0 } = options;
  if (resourceVersion > storage.revision) throw tooLargeVersion(resourceVersion, storage.revision);
  const page = pageOf(storage, request);
  const metadata = metadataOf(page, kind);
  if (protobuf) {
    const items = page.entries.flatMap((entry) => entryProtobuf(entry) ?? []);
    return protobufReply(listProtobuf({ kind, metadata, items }));
  }
  const type = { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind) };
  const head = JSON.stringify({ ...type, metadata }).slice(0, -1);
  return jsonReply(`${head},"items":[${page.entries.map((entry) => itemText(entry)).join(',')}]}`);
};
