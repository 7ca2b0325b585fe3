import type { Call, ListBounds, ListParts } from '../api/call.ts';
import { DecodeError, decodeList, decodeObject, optionalString } from '../api/decode.ts';
import { envelopeOf } from '../client/index.ts';
import type { Replacement } from './object-cache.ts';

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

/** Items of custom resources have a kind. Items of built-in lists have none: it follows from the list's kind. */
const kindOf = (listKind: string | undefined, first: unknown): string | undefined => {
  const kind = first === undefined ? undefined : optionalString(decodeObject(first, 'items[0]').kind, 'items[0].kind');
  return kind ?? (listKind?.endsWith('List') === true ? listKind.slice(0, -'List'.length) : undefined);
};

const partsOf = (replacement: Replacement): ListParts<Listed> => {
  let [count, first]: [number, unknown] = [0, undefined];
  return {
    count: () => count,
    addJson: (item) => {
      if (count === 0) first = item;
      count += 1;
      replacement.add(item);
      return item;
    },
    addProtobuf: () => undefined,
    // The items come again, in the same state.
    cut: (to) => {
      count = to;
    },
    all: ({ resourceVersion = '', kind }) => {
      if (resourceVersion === '') throw new DecodeError('list.metadata.resourceVersion', 'a version', resourceVersion);
      return { resourceVersion, kind: kindOf(kind, first), commit: () => replacement.commit() };
    },
  };
};

export interface ListIntoOptions {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly pageSize: number;
}

/** Returns a call that lists into a cache, as a consistent read. The cache shows nothing of it before `commit`. */
export const listInto = (
  cache: { replace(): Replacement },
  { path, query, pageSize }: ListIntoOptions,
): Call<Listed> => {
  const start = (): ListParts<Listed> => partsOf(cache.replace());
  return {
    method: 'GET',
    path,
    query,
    decode: (json) => {
      const parts = start();
      decodeList((item) => item)(json).forEach(parts.addJson);
      return parts.all(envelopeOf(json));
    },
    list: { pageSize, pageTimeoutMs, fullIfExpired: true, bounds, kind: undefined, apiVersion: undefined, start },
  };
};
