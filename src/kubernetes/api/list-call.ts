import { type MessageFields, readFields } from '../protobuf/index.ts';
import type { Call, ListBounds, ListReading } from './call.ts';
import { decodeList, decodeObject } from './decode.ts';
import { distinctBy } from './distinct.ts';

const mebibyte = 1024 * 1024;

export const listBounds: ListBounds = {
  jsonBytes: 8 * mebibyte,
  protobufBytes: 8 * mebibyte,
  pageItems: 5_000,
  items: 100_000,
};

/**
 * Maximum number of items in a list of a shoot, which is judged as a whole and at once: twice the number of nodes that Kubernetes
 * supports (https://kubernetes.io/docs/setup/best-practices/cluster-large), which takes less than 50 ms.
 */
const shootItems = 10_000;

/** The prober's projections of 10,000 nodes take 5 MB. */
export const nodeListBounds: ListBounds = { ...listBounds, items: shootItems, keptBytes: 16 * mebibyte };

/** Leases are listed in one page: later pages show the state of the first one's time, which is outdated when the last one arrives. */
export const leaseListBounds: ListBounds = {
  jsonBytes: 4 * mebibyte,
  protobufBytes: 16 * mebibyte,
  pageItems: shootItems,
  items: shootItems,
  keptBytes: 16 * mebibyte,
};

/**
 * Limits of the memory that one run of care uses for a shoot, together less than 9 MiB: 20 shoots are checked at the same time, and all of them may be hostile.
 * 5,000 unhealthy nodes with long messages take 5.5 MB.
 */
export const runBounds = {
  nodes: { ...nodeListBounds, keptBytes: 6 * mebibyte },
  leases: { ...leaseListBounds, keptBytes: 2 * mebibyte },
  tunnelPods: { ...nodeListBounds, keptBytes: mebibyte / 2 },
} as const satisfies Readonly<Record<string, ListBounds>>;

const defaultPageSize = 500;
/** A node has 12 to 25 KB, most of it images. This many of up to 33 KB fit into a page; a larger page is discarded and requested again in smaller ones. */
export const nodePageSize = 250;

/** Describes how to read the items of a list from protobuf. */
export interface ProtobufKind<Item> {
  readonly apiVersion: string;
  readonly fields: MessageFields;
  /** Returns an item without any of the fields. */
  readonly empty: () => object;
  /** Converts the fields that were read to an item; throws a DecodeError whose message begins with `path`. */
  readonly project: (draft: unknown, path: () => string) => Item;
}

export interface ListCall<Item> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Kind of the list, such as `NodeList`. Absent: any. */
  readonly kind?: string;
  /** Throws a DecodeError whose message begins with `path`. */
  readonly decode: (item: unknown, path: string) => Item;
  /** Absent: JSON only. */
  readonly protobuf?: ProtobufKind<Item>;
  /** Name by which duplicates are dropped: only the first item of each name counts. Absent: all items count. */
  readonly nameOf?: (item: Item) => string;
  /** Items per page, 500 by default. `none`: one page, no `limit`. */
  readonly pageSize?: number | 'none';
  readonly bounds?: ListBounds;
}

/** Returns the call that reads a list; its `decode` reads one that has arrived as a whole. */
export const readingCall = <T>(at: Pick<Call<T>, 'path' | 'query'>, list: ListReading<T>): Call<T> => ({
  ...at,
  method: 'GET',
  list,
  decode: (json) => list.all(decodeList(list.item, list.kind, list.key)(json), decodeObject(json, 'list')),
});

/** Returns a call that lists page by page and projects each item as it arrives. */
export const listCall = <Item>(options: ListCall<Item>): Call<readonly Item[]> => {
  const { path, query, kind, decode, protobuf, nameOf, pageSize = defaultPageSize, bounds = listBounds } = options;
  const all = (items: readonly unknown[]): readonly Item[] =>
    nameOf === undefined ? (items as readonly Item[]) : distinctBy(items as readonly Item[], nameOf);
  const list = { pageSize: pageSize === 'none' ? undefined : pageSize, bounds, kind, item: decode, all };
  if (protobuf === undefined) return readingCall({ path, query }, list);
  const { apiVersion, fields, empty, project } = protobuf;
  const protobufItem: ListReading<unknown>['protobufItem'] = (cursor, end, itemPath) =>
    project(readFields(cursor, end, { fields, draft: empty() }), itemPath);
  return readingCall({ path, query }, { ...list, apiVersion, protobufItem });
};
