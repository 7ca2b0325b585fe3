import type { CallResult, Call } from './call.ts';

/** How a request is sent, whatever it asks. */
interface SendOptions {
  /** Aborts the exchange at once: while it is queued, connecting or reading. */
  readonly signal: AbortSignal;
  /** Timeout of the whole exchange, the body included, in milliseconds. Absent: only the signal ends it (watches). */
  readonly timeoutMs?: number;
  /** True if the client must not retry: the caller gets a refusal (429, 5xx with `Retry-After`) and retries by itself. */
  readonly noRetry?: true;
  /** `urgent` requests do not wait for the ordinary rate limit. */
  readonly priority?: 'urgent';
  /**
   * Called by a transport each time right before it sends the request, with the connection open, so that no wait comes in between.
   * Throws an ApiError to end the request unsent.
   */
  readonly beforeSend?: () => void;
}

/** One HTTP exchange with an API server. */
export interface KubeRequest extends SendOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path without query, each segment already URI-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** True if a second application does no harm, as `Call.repeatable`. GET requests need not set it. */
  readonly repeatable?: boolean;
}

export interface KubeResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The caller must read it to its end or abandon it (`return()`), or the connection stays occupied. Reading may throw an ApiError. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The only interface through which requests reach an API server. Policies (auth, deadlines, faults, counting) are wrappers around it.
 * Rejects with an ApiError (`ConnectionError`, `Timeout`) if there is no response and with `signal.reason` on abort; any HTTP
 * status is a response, not an error.
 */
export interface Kube {
  request(request: KubeRequest): Promise<KubeResponse>;
}

export interface CallOptions extends SendOptions {
  /** Once the request is sent, this many milliseconds without a response end it (`Timeout`), and `signal` no longer ends a write. */
  readonly sentTimeoutMs?: number;
}

/** Sends calls and reads their responses whole: bounded, decoded, every failure an ApiError. */
export interface KubeClient {
  /** Rejects with an ApiError for a status >= 400, a connection failure, a timeout or a response that cannot be decoded. */
  call<T>(call: Call<T>, options: CallOptions): Promise<CallResult<T>>;
}
