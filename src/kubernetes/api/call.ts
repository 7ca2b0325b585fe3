import type { ProtobufCursor } from '../protobuf/index.ts';
import type { JsonObject } from './decode.ts';

/** A call to an API server as a value: the request and how to read its response. Pure; the client sends it. */
export interface Call<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** Serialized as JSON. */
  readonly body?: unknown;
  /** Decodes the parsed JSON response; throws a DecodeError if it has the wrong shape. */
  readonly decode: (json: unknown) => T;
  /** Decodes a response that is not JSON, such as that of `/healthz`; `status` is a 2xx. Used in place of `decode`. */
  readonly text?: (text: string, status: number) => T;
  /** Reads a list item by item and page by page. Used in place of `decode`. */
  readonly list?: ListReading<T>;
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
  /** Maximum size of one item in bytes. Absent: the client's limit for objects. */
  readonly itemBytes?: number;
  /** Approximate maximum memory of the projections of all items, in bytes. Absent: no limit. */
  readonly keptBytes?: number;
}

/** Reads a list item by item and page by page, so that neither its bytes nor its JSON are ever in memory as a whole. */
export interface ListReading<T> {
  /** Field that holds the items. Default `items`. */
  readonly key?: string;
  /** Query parameter `limit` of each page. Absent: the whole list in one page. */
  readonly pageSize?: number;
  /** Timeout of each page in milliseconds. Absent: the timeout of the call is for all pages together. */
  readonly pageTimeoutMs?: number;
  /** True if a list whose token has expired is read again in one page (client-go `tools/pager`, FullListIfExpired). Default: again in pages. */
  readonly fullIfExpired?: boolean;
  readonly bounds: ListBounds;
  /** Kind of the list, such as `NodeList`. Absent: any. */
  readonly kind?: string;
  readonly apiVersion?: string;
  /** Returns what is kept of an item. Throws a DecodeError. */
  readonly item: (json: unknown, path: string) => unknown;
  /** The same for the item in protobuf that ends at `end`; also throws a ProtobufError. Absent: the list is requested as JSON only. */
  readonly protobufItem?: (cursor: ProtobufCursor, end: number, path: () => string) => unknown;
  /** Called once with what is kept of all pages, and with the first page in JSON, without its items. Throws a DecodeError. */
  readonly all: (kept: readonly unknown[], firstPage?: JsonObject) => T;
}
