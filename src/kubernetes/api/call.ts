import type { ProtobufCursor } from '../protobuf/index.ts';

/** A call to an API server as a value: what to send and how to read the answer. Pure; sending it is the client's job. */
export interface Call<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly contentType?: PatchType | 'application/json';
  /** Serialized as JSON. */
  readonly body?: unknown;
  /** Reads the parsed JSON answer; throws a DecodeError when the shape is not what it must be. */
  readonly decode: (json: unknown) => T;
  /** Reads the answer from protobuf, our first choice; throws a ProtobufError for broken bytes. Absent: JSON only. */
  readonly protobuf?: (bytes: Uint8Array) => T;
  /** Reads an answer that is no JSON, such as that of `/healthz`, with its status, which is a 2xx. In place of `decode`. */
  readonly text?: (text: string, status: number) => T;
  /** Reads a list item by item, and page by page. In place of `decode` and `protobuf`. */
  readonly list?: ListReading<T>;
  /** True when the status of the answer says all: its body is thrown away, and `decode` gets undefined. */
  readonly ignoresBody?: boolean;
  /** Most bytes of the answer; a longer one is a MalformedResponse. Absent: the client's own limit for objects. */
  readonly bytes?: number;
  /**
   * True when a second application does no harm (the body carries a resourceVersion, UID or JSON-patch `test`), so that a lost answer
   * may be retried. Reads need not say so.
   */
  readonly repeatable?: boolean;
}

/** `Call.bytes` of answers that are known to be small. */
export const smallAnswerBytes = 64 * 1024;

export type PatchType =
  /** Server-side apply; JSON is YAML. */
  | 'application/apply-patch+yaml'
  | 'application/merge-patch+json'
  | 'application/json-patch+json'
  | 'application/strategic-merge-patch+json';

export interface Answer<T> {
  readonly value: T;
  /** The server's `Date` header in milliseconds since the epoch (resolution 1 s), when it sent one. */
  readonly date?: number;
  /** Monotonic milliseconds when the request was handed to the transport and when the whole answer was in. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Bounds of a list. A list beyond them is a MalformedResponse, and is read no further. */
export interface ListBounds {
  /** Most bytes of one page, as JSON and as protobuf. */
  readonly jsonBytes: number;
  readonly protobufBytes: number;
  readonly pageItems: number;
  /** In all pages together. */
  readonly items: number;
  /** Memory that the projections of all items may take, roughly. Absent: no limit. */
  readonly keptBytes?: number;
}

/** Takes a list item by item, so that neither its bytes nor its JSON are ever in memory as a whole. */
export interface ListParts<T> {
  readonly count: () => number;
  /** Throws a DecodeError. */
  readonly addJson: (item: unknown) => void;
  /** Reads the item that ends at `end`; throws a ProtobufError or a DecodeError. */
  readonly addProtobuf: (cursor: ProtobufCursor, end: number) => void;
  /** The latest item. */
  readonly last: () => unknown;
  /** Forgets all but the first `count` items. */
  readonly cut: (count: number) => void;
  readonly all: () => T;
}

export interface ListReading<T> {
  /** `limit` of a page; undefined: the whole list in one page. */
  readonly pageSize: number | undefined;
  readonly bounds: ListBounds;
  /** Kind of the list, such as `NodeList`; undefined: any. */
  readonly kind: string | undefined;
  readonly apiVersion: string | undefined;
  readonly start: () => ListParts<T>;
}
