import type { Answer, Call } from './call.ts';

/** One HTTP exchange with an API server. */
export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path without query, each segment already URI-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Milliseconds for the whole exchange, the body included. Absent: no deadline but the signal (watches). */
  readonly timeoutMs?: number;
  /** True when a second application does no harm, as `Call.repeatable`. GET requests need not say so. */
  readonly repeatable?: boolean;
  /** The caller waits and tries again by itself: a refusal (429, 5xx with `Retry-After`) is its answer. */
  readonly once?: true;
  /** `urgent` does not wait behind the ordinary rate limit. */
  readonly priority?: 'urgent';
  /**
   * Called by a transport each time right before the request leaves, with the connection open, so that nothing can be waited for in between.
   * What it throws, an ApiError, ends the request unsent.
   */
  readonly beforeSend?: () => void;
  /** Aborting ends the exchange at once: while queued, connecting or reading. */
  readonly signal: AbortSignal;
}

export interface KubeResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read to its end or abandoned (`return()`), or the connection stays occupied. Reading it may throw an ApiError. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The one narrow seam to an API server. Policies (auth, deadlines, faults, counting) are wrappers around it.
 * Rejects with an ApiError (`ConnectionError`, `Timeout`) when there is no answer and with `signal.reason` on abort; any HTTP
 * status is an answer, not an error.
 */
export interface Kube {
  request(request: KubeRequest): Promise<KubeResponse>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Once the request has left, `signal` no longer ends it: only this many milliseconds without an answer do (`Timeout`). */
  readonly sentTimeoutMs?: number;
  /** As `KubeRequest.once`. */
  readonly once?: true;
  /** As `KubeRequest.priority`. */
  readonly priority?: 'urgent';
  /** As `KubeRequest.beforeSend`. */
  readonly beforeSend?: () => void;
}

/** Calls read whole: bounded, decoded, every failure an ApiError. */
export interface KubeClient {
  /** Rejects with an ApiError for a status >= 400, a connection failure, a time-out or an answer that cannot be decoded. */
  call<T>(call: Call<T>, options: CallOptions): Promise<Answer<T>>;
}
