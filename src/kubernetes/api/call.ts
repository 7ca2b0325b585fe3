import type { ProtobufCursor } from '../protobuf/index.ts';

/** A call to an API server as a value: the request and how to read its response. Pure; the client sends it. */
export interface Call<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly contentType?: PatchType | 'application/json';
  /** Serialized as JSON. */
  readonly body?: unknown;
  /** Decodes the parsed JSON response; throws a DecodeError if it has the wrong shape. */
  readonly decode: (json: unknown) => T;
  /** Decodes a response that is not JSON, such as that of `/healthz`; `status` is a 2xx. Used in place of `decode`. */
  readonly text?: (text: string, status: number) => T;
  /** Reads a list item by item and page by page. Used in place of `decode`. */
  readonly list?: ListReading<T>;
  /** Reads an object with long lists item by item. Used in place of `decode`. */
  readonly items?: ItemsReading<T>;
  /** True if only the response's status matters: the body is discarded, and `decode` gets undefined. */
  readonly ignoresBody?: boolean;
  /** Maximum size of the response in bytes; a longer one is a MalformedResponse. Absent: the client's limit for objects. */
  readonly bytes?: number;
  /**
   * True if a second application does no harm (the body has a resourceVersion, UID or JSON-patch `test`), so that the call may be retried
   * after a lost response. Reads need not set it.
   */
  readonly repeatable?: boolean;
}

/** `Call.bytes` for responses that are known to be small. */
export const smallResponseBytes = 64 * 1024;

export type PatchType =
  /** Server-side apply; JSON is YAML. */
  | 'application/apply-patch+yaml'
  | 'application/merge-patch+json'
  | 'application/json-patch+json'
  | 'application/strategic-merge-patch+json';

export interface CallResult<T> {
  readonly value: T;
  /** The server's `Date` header in milliseconds since the epoch (resolution 1 s), if it sent one. */
  readonly date?: number;
  /** Monotonic milliseconds at which the request was handed to the transport, and at which the whole response had been read. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Limits of a list. A list beyond them is a MalformedResponse and is read no further. */
export interface ListBounds {
  /** Maximum size of one page in bytes, as JSON and as protobuf. */
  readonly jsonBytes: number;
  readonly protobufBytes: number;
  readonly pageItems: number;
  /** Maximum number of items in all pages together. */
  readonly items: number;
  /** Approximate maximum memory of the projections of all items, in bytes. Absent: no limit. */
  readonly keptBytes?: number;
}

/** What a page of a list says beside its items. */
export interface ListEnvelope {
  /** Token of the next page, empty on the last one. */
  readonly next: string;
  /** Version of the list; absent if it was read from protobuf. */
  readonly resourceVersion?: string;
  /** Kind of the list; absent if the server names none, or if it was read from protobuf. */
  readonly kind?: string;
}

/** Collects a list item by item, so that neither its bytes nor its JSON are ever in memory as a whole. */
export interface ListParts<T> {
  readonly count: () => number;
  /** Returns what is kept of the item. Throws a DecodeError. */
  readonly addJson: (item: unknown) => unknown;
  /** Reads the item that ends at `end`, and returns what is kept of it. Throws a ProtobufError or a DecodeError. */
  readonly addProtobuf: (cursor: ProtobufCursor, end: number) => unknown;
  /** Drops all but the first `count` items. */
  readonly cut: (count: number) => void;
  /** Called once with the first page, after the last one. Throws a DecodeError. */
  readonly all: (first: ListEnvelope) => T;
}

/** Reads an object in JSON whose lists may be long, so that neither its bytes nor its JSON are ever in memory as a whole. */
export interface ItemsReading<T> {
  /** Fields of the object that are lists of objects. */
  readonly keys: readonly string[];
  /** Maximum size of one item in bytes, and maximum number of items of each list. */
  readonly itemBytes: number;
  readonly most: number;
  readonly start: () => {
    /** Throws a DecodeError. */
    readonly add: (item: unknown, key: string, index: number) => void;
    /** Called with the object, with a number in place of each item. Throws a DecodeError. */
    readonly finish: (object: unknown) => T;
  };
}

export interface ListReading<T> {
  /** Query parameter `limit` of each page; undefined: the whole list in one page. */
  readonly pageSize: number | undefined;
  /** Timeout of each page in milliseconds. Absent: the timeout of the call is for all pages together. */
  readonly pageTimeoutMs?: number;
  /** True if a list whose token has expired is read again in one page (client-go `tools/pager`, FullListIfExpired). Default: again in pages. */
  readonly fullIfExpired?: boolean;
  readonly bounds: ListBounds;
  /** Kind of the list, such as `NodeList`; undefined: any. */
  readonly kind: string | undefined;
  readonly apiVersion: string | undefined;
  /** True if the list is also read from protobuf, which we prefer. Default: JSON only. */
  readonly readsProtobuf?: boolean;
  readonly start: () => ListParts<T>;
}
