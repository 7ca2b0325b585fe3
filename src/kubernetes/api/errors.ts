/** Failure of an API call, classified by `Status.reason` first and HTTP code second. */
export type ApiErrorCode =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Expired'
  | 'Invalid'
  | 'TooManyRequests'
  | 'Timeout'
  | 'ServerError'
  | 'ConnectionError'
  | 'MalformedResponse'
  | 'Rejected';

/**
 * Action that a caller may take after an error: `retry` the same call, `wait` for Retry-After and retry, `reread` and decide again,
 * or `give-up` (the same call fails the same way until somebody changes something).
 */
export type ErrorHandling = 'retry' | 'wait' | 'reread' | 'give-up';

const handlingByCode: Readonly<Record<ApiErrorCode, ErrorHandling>> = {
  BadRequest: 'give-up',
  Unauthorized: 'give-up',
  Forbidden: 'give-up',
  NotFound: 'give-up',
  MethodNotAllowed: 'give-up',
  AlreadyExists: 'reread',
  Conflict: 'reread',
  Expired: 'reread',
  Invalid: 'give-up',
  TooManyRequests: 'wait',
  Timeout: 'retry',
  ServerError: 'retry',
  ConnectionError: 'retry',
  MalformedResponse: 'retry',
  Rejected: 'give-up',
};

/** Phase in which an exchange failed; `connecting` includes DNS, TCP, proxy and TLS. */
export type ExchangePhase = 'connecting' | 'waiting for the answer' | 'reading the answer';

/**
 * `cause` of a ConnectionError, and of a Timeout that a transport noticed: Node's error without its message, which repeats addresses and bytes that
 * came from a Secret.
 */
export interface ConnectionFault {
  readonly code: string;
  readonly phase: ExchangePhase;
}

export interface ApiErrorInit {
  readonly code: ApiErrorCode;
  readonly message: string;
  /** HTTP status, absent if there was no response. */
  readonly status?: number;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number;
  /** True if our own rate limit held the request back: nothing was sent, and the server's state is unknown. */
  readonly rateLimited?: true;
  readonly cause?: unknown;
}

/** A failed API call, classified once, at the transport. `Rejected` is any other 4xx, or a request that was not sent. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly rateLimited: boolean;

  constructor(init: ApiErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.status = init.status;
    this.retryAfterMs = init.retryAfterMs;
    this.rateLimited = init.rateLimited ?? false;
  }

  /** Details of an exchange without a response, as far as the transport knows them. */
  get fault(): Partial<ConnectionFault> {
    const { cause } = this;
    return typeof cause === 'object' && cause !== null ? cause : {};
  }

  get handling(): ErrorHandling {
    return handlingByCode[this.code];
  }
}

export const isApiError = (error: unknown, code: ApiErrorCode): error is ApiError =>
  error instanceof ApiError && error.code === code;

/**
 * A response is not read any further or cannot be read; the message gives the reason without quoting the response. The client makes a `MalformedResponse` of it.
 */
export class ResponseError extends Error {
  override readonly name: string = 'ResponseError';
}

/** Returns the message of anything that was thrown. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Resolves with undefined if the object does not exist, or the API server does not serve its kind. Rejects as `asked` does for any other failure. */
export const unlessNotFound = async <T>(asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
};

/** Makes data of a failed call. Rejects only with `signal.reason`, or for a bug. */
export const resultOf = async <T>(called: Promise<T>, signal: AbortSignal): Promise<Result<T, ApiError>> => {
  try {
    return { ok: true, value: await called };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return { ok: false, error };
    throw error;
  }
};

/** A kubeconfig is refused or malformed; the message names the field and never its value. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  /** Path of the offending field, such as `users[0].user.exec`. */
  readonly field: string;
  /** The message without the field. */
  readonly problem: string;

  constructor(field: string, problem: string) {
    super(`kubeconfig: ${field}: ${problem}`);
    this.field = field;
    this.problem = problem;
  }
}

/** A failed read is data, not an exception. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };
