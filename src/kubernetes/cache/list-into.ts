import type { Call, ListBounds } from '../api/call.ts';
import { decodeObject, decodeString, optionalString } from '../api/decode.ts';
import { readingCall } from '../api/list-call.ts';
import type { ListedObject, ObjectCache } from './object-cache.ts';

const mebibyte = 1024 * 1024;
/** Far more objects than a seed has of any kind; a longer list would probably never end. One page may have all of them. */
const mostItems = 100_000;
const bounds: ListBounds = {
  jsonBytes: 256 * mebibyte,
  protobufBytes: 0,
  pageItems: mostItems,
  items: mostItems,
};
const pageTimeoutMs = 60_000;

/** A list that was read to its end. */
export interface Listed {
  /** Version of the list: the start of the watch. All pages show the same state. */
  readonly resourceVersion: string;
  /** Kind of the items; undefined: not known. */
  readonly kind: string | undefined;
  /** Lets the cache show the list. */
  readonly commit: () => void;
}

export interface ListIntoOptions {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly pageSize: number;
}

/** Returns a call that lists into a cache, as a consistent read. The cache shows nothing of it before `commit`. */
export const listInto = <T>(cache: ObjectCache<T>, { path, query, pageSize }: ListIntoOptions): Call<Listed> => {
  // Items of custom resources have a kind. Items of built-in lists have none: it follows from the list's kind.
  let kind: string | undefined;
  return readingCall(
    { path, query },
    {
      ...{ pageSize, pageTimeoutMs, fullIfExpired: true, bounds },
      item: (json, at) => {
        kind ??= optionalString(decodeObject(json, at).kind, `${at}.kind`);
        return cache.read(json);
      },
      all: (items, firstPage = {}) => {
        const { resourceVersion } = decodeObject(firstPage.metadata, 'list.metadata');
        const of = optionalString(firstPage.kind, 'list.kind') ?? '';
        return {
          resourceVersion: decodeString(resourceVersion || undefined, 'list.metadata.resourceVersion'),
          kind: kind ?? (of.endsWith('List') ? of.slice(0, -'List'.length) : undefined),
          commit: () => cache.replace(items as readonly (ListedObject<T> | undefined)[]),
        };
      },
    },
  );
};
