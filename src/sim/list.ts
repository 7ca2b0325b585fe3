import { type Entry, entryProtobuf, type Form, itemText } from './entry.ts';
import { apiVersionOf, type SimKind } from './kind.ts';
import { listProtobuf } from './kube-protobuf.ts';
import { isMap, type JsonMap } from './object.ts';
import type { ListOptions } from './read-options.ts';
import { badRequest, expired } from './status.ts';
import type { Storage } from './storage.ts';

export interface ListRequest {
  readonly kind: SimKind;
  readonly namespace?: string;
  readonly options: ListOptions;
  readonly view: Form;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly continue?: string;
  readonly remaining?: number;
}

interface Token {
  /** -1: go on with whatever is there now, as an expired list offers. */
  readonly revision: number;
  /** Keys up to and including this one were shown. */
  readonly after: string;
}

const tokenVersion = 'meta.k8s.io/v1';

const encodeToken = (token: Token): string =>
  Buffer.from(JSON.stringify({ v: tokenVersion, rv: token.revision, start: token.after })).toString('base64url');

const decodeToken = (text: string): Token => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (error) {
    throw badRequest(`invalid continue token: continue key is not valid: ${String(error)}`);
  }
  const { v, rv, start }: JsonMap = isMap(parsed) ? parsed : {};
  if (v !== tokenVersion || typeof rv !== 'number' || typeof start !== 'string') {
    throw badRequest(
      'invalid continue token: continue key is not valid: server does not recognize this encoded version',
    );
  }
  return { revision: rv, after: start };
};

const expiredToken =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue ' +
  'parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token ' +
  'results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and ' +
  'now may show up in the list.';
const expiredVersion = 'The resourceVersion for the provided list is too old.';

interface Snapshot {
  readonly entries: readonly Entry[];
  readonly revision: number;
  readonly after: string;
}

const snapshotOf = (storage: Storage, request: ListRequest): Snapshot => {
  const { options, namespace } = request;
  const collection = storage.collection(request.kind);
  if (options.continue !== '') {
    if (options.resourceVersion) throw badRequest('specifying resource version is not allowed when using continue');
    const token = decodeToken(options.continue);
    if (token.revision < 0) {
      return { entries: collection.list(namespace), revision: storage.revision, after: token.after };
    }
    const entries = collection.at(token.revision, namespace);
    if (entries === undefined) throw expired(expiredToken, encodeToken({ revision: -1, after: token.after }));
    return { entries, revision: token.revision, after: token.after };
  }
  const { resourceVersion, match, limit } = options;
  const exact = match === 'Exact' || (match === undefined && limit > 0 && (resourceVersion ?? 0) > 0);
  if (!exact || resourceVersion === undefined) {
    return { entries: collection.list(namespace), revision: storage.revision, after: '' };
  }
  const entries = collection.at(resourceVersion, namespace);
  if (entries === undefined) throw expired(expiredVersion);
  return { entries, revision: resourceVersion, after: '' };
};

const pageOf = (storage: Storage, request: ListRequest): Page => {
  const { options } = request;
  const { selection } = options;
  const { entries, revision, after } = snapshotOf(storage, request);
  const rest = after === '' ? entries : entries.filter((entry) => entry.key > after);
  const matching = selection.all
    ? rest
    : rest.filter((entry) => (selection.name ?? entry.name) === entry.name && selection.matches(entry.object));
  // A list of "any" version comes from the real server's cache, which knows no pages.
  const limit = options.resourceVersion === 0 && options.continue === '' ? 0 : options.limit;
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
 * The body of a list answer: protobuf where that is asked for and all objects have it, else JSON text. Throws a StatusError: BadRequest for a
 * broken token, Expired (410) for a forgotten revision.
 */
export const listBody = (storage: Storage, request: ListRequest): string | Uint8Array => {
  const { kind, view } = request;
  const page = pageOf(storage, request);
  const metadata = metadataOf(page, kind);
  if (view === 'protobuf') {
    const items = page.entries.flatMap((entry) => entryProtobuf(entry) ?? []);
    if (items.length === page.entries.length) return listProtobuf({ kind, metadata, items });
  }
  const type =
    view === 'metadata'
      ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
      : { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind) };
  const head = JSON.stringify({ ...type, metadata }).slice(0, -1);
  return `${head},"items":[${page.entries.map((entry) => itemText(entry, view)).join(',')}]}`;
};
