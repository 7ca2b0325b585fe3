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
  /** Reads the answer from protobuf, for which the server is asked first; throws a ProtobufError for broken bytes. Absent: JSON only. */
  readonly protobuf?: (bytes: Uint8Array) => T;
  /** Reads an answer that is no JSON, such as that of `/healthz`, with its status, which is a 2xx. In place of `decode`. */
  readonly text?: (text: string, status: number) => T;
  /**
   * True when a second application does no harm (the body carries a resourceVersion, UID or JSON-patch `test`), so that a lost answer
   * may be retried. Reads need not say so.
   */
  readonly repeatable?: boolean;
}

export type PatchType =
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
