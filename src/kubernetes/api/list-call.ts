import { type MessageFields, readFields, readProtobufList } from '../protobuf/index.ts';
import type { Call, ListBounds, ListParts } from './call.ts';
import { decodeList } from './decode.ts';
import { distinctBy } from './distinct.ts';

const mebibyte = 1024 * 1024;

export const listBounds: ListBounds = {
  jsonBytes: 8 * mebibyte,
  protobufBytes: 8 * mebibyte,
  pageItems: 5_000,
  items: 100_000,
};

/**
 * Most items of a shoot's list, which is judged whole and in one go: twice the nodes that Kubernetes is made for
 * (https://kubernetes.io/docs/setup/best-practices/cluster-large), which takes less than 50 ms.
 */
const shootItems = 10_000;

/** A prober keeps 5 MB of 10,000 nodes. */
export const nodeListBounds: ListBounds = { ...listBounds, items: shootItems, keptBytes: 16 * mebibyte };

/** For programs that ask for nodes as they are: conditions, labels and annotations, 8 KB of a node. */
export const nodeHealthListBounds: ListBounds = { ...nodeListBounds, keptBytes: 96 * mebibyte };

/** Leases come in one page: pages are of a moment that is over when the last one comes. */
export const leaseListBounds: ListBounds = {
  jsonBytes: 4 * mebibyte,
  protobufBytes: 16 * mebibyte,
  pageItems: shootItems,
  items: shootItems,
  keptBytes: 16 * mebibyte,
};

/**
 * Memory that one run of care keeps of a shoot, together less than 9 MiB: 20 shoots are checked at the same time, and all of them may be hostile.
 * 5,000 nodes that are all unhealthy and say why at length take 5.5 MB.
 */
export const runBounds = {
  nodes: { ...nodeListBounds, keptBytes: 6 * mebibyte },
  leases: { ...leaseListBounds, keptBytes: 2 * mebibyte },
  tunnelPods: { ...nodeListBounds, keptBytes: mebibyte / 2 },
} as const satisfies Readonly<Record<string, ListBounds>>;

const defaultPageSize = 500;
/** A node has 12 to 25 KB, most of it images; so many of up to 33 KB fit into a page, which is else thrown away and asked for again in smaller ones. */
export const nodePageSize = 250;

/** How the items of a list are read from protobuf. */
export interface ProtobufKind<Item> {
  readonly apiVersion: string;
  readonly fields: MessageFields;
  /** What an item is that has none of the fields. */
  readonly empty: () => object;
  /** Makes the item of what was read; throws a DecodeError. `path`: what its message begins with. */
  readonly project: (draft: unknown, path: () => string) => Item;
}

export interface ListCall<Item> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Kind of the list, such as `NodeList`. Absent: any. */
  readonly kind?: string;
  /** Throws a DecodeError; `path` is what its message begins with. */
  readonly decode: (item: unknown, path: string) => Item;
  /** Absent: JSON only. */
  readonly protobuf?: ProtobufKind<Item>;
  /** Only the first of several items with the same name counts. Absent: all do. */
  readonly nameOf?: (item: Item) => string;
  /** Default 500. `none`: one page, and no `limit`. */
  readonly pageSize?: number | 'none';
  readonly bounds?: ListBounds;
}

/** A call that lists: page by page, each item projected as it comes in. */
export const listCall = <Item>(options: ListCall<Item>): Call<readonly Item[]> => {
  const { path, query, kind, decode, protobuf, nameOf, pageSize = defaultPageSize, bounds = listBounds } = options;
  const distinct = (items: readonly Item[]): readonly Item[] =>
    nameOf === undefined ? items : distinctBy(items, nameOf);
  const fromJson = decodeList(decode, kind);
  const apiVersion = protobuf?.apiVersion;
  const start = (): ListParts<readonly Item[]> => {
    const items: Item[] = [];
    const nextPath = (): string => `items[${String(items.length)}]`;
    return {
      count: () => items.length,
      addJson: (item) => void items.push(decode(item, nextPath())),
      addProtobuf: (cursor, end) => {
        if (protobuf === undefined) return;
        const { fields, empty, project } = protobuf;
        items.push(project(readFields(cursor, end, { fields, draft: empty() }), nextPath));
      },
      last: () => items.at(-1),
      cut: (count) => {
        items.length = count;
      },
      all: () => distinct(items),
    };
  };
  const fromProtobuf = (bytes: Uint8Array): readonly Item[] => {
    const parts = start();
    readProtobufList(bytes, { apiVersion, kind, item: parts.addProtobuf });
    return parts.all();
  };
  return {
    method: 'GET',
    path,
    ...(query === undefined ? {} : { query }),
    decode: (json) => distinct(fromJson(json)),
    ...(protobuf === undefined ? {} : { protobuf: fromProtobuf }),
    list: {
      pageSize: pageSize === 'none' ? undefined : pageSize,
      bounds,
      kind,
      apiVersion,
      start,
    },
  };
};
