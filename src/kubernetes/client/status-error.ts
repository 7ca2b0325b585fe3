import { type JsonObject, isObject } from '../api/decode.ts';
import { ApiError, type ApiErrorCode } from '../api/errors.ts';

/** Longest `Retry-After` that we respect. A response with 999999999 seconds once put an informer to sleep for 31 years. */
export const longestRetryAfterMs = {
  /** Short, because no shoot is protected while we wait. */
  seed: 60_000,
  /** Longer, because only this shoot is affected. */
  shoot: 600_000,
} as const;

/** Parses a `Retry-After` header into milliseconds, at most `longestMs`. As in client-go (`retryAfterSeconds` in `rest`), only seconds count: undefined for a date. */
export const parseRetryAfter = (header: string | undefined, longestMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  return /^\d+$/.test(text) ? Math.min(Number(text) * 1_000, longestMs) : undefined;
};

/** `Status.reason` of k8s.io/apimachinery `pkg/apis/meta/v1` (types.go, StatusReason). */
const codeByReason: ReadonlyMap<string, ApiErrorCode> = new Map(
  Object.entries({
    BadRequest: 'BadRequest',
    Unauthorized: 'Unauthorized',
    Forbidden: 'Forbidden',
    NotFound: 'NotFound',
    MethodNotAllowed: 'MethodNotAllowed',
    AlreadyExists: 'AlreadyExists',
    Conflict: 'Conflict',
    Gone: 'Expired',
    Expired: 'Expired',
    Invalid: 'Invalid',
    TooManyRequests: 'TooManyRequests',
    Timeout: 'Timeout',
    ServerTimeout: 'ServerError',
    StorageReadError: 'ServerError',
    InternalError: 'ServerError',
    ServiceUnavailable: 'ServerError',
  }),
);

const codeByStatus: Readonly<Record<number, ApiErrorCode>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  504: 'Timeout',
};

const longestMessage = 1_000;

const objectAt = (value: unknown): JsonObject => (isObject(value) ? value : {});

const textAt = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Puts a message of the server into one line of bounded length. */
const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}...` : line;
};

/**
 * Returns true for a resourceVersion beyond the server's, as after etcd was restored: it is as useless as an expired one. Servers before 1.19
 * reported it only in the message (client-go `tools/cache/reflector.go`, isTooLargeResourceVersionError).
 */
const isTooLargeResourceVersion = (status: JsonObject): boolean => {
  const causes = objectAt(status.details).causes;
  const known = Array.isArray(causes) ? causes.map(objectAt) : [];
  if (known.some((cause) => cause.reason === 'ResourceVersionTooLarge')) return true;
  const words = [status.message, ...known.map((cause) => cause.message)].map(textAt);
  return status.reason === 'Timeout' && words.some((text) => text.includes('Too large resource version'));
};

const codeOf = (httpStatus: number, status: JsonObject, method: string): ApiErrorCode => {
  if (isTooLargeResourceVersion(status)) return 'Expired';
  const byReason = codeByReason.get(textAt(status.reason));
  if (byReason !== undefined) return byReason;
  if (httpStatus === 409 && method === 'POST') return 'AlreadyExists';
  return codeByStatus[httpStatus] ?? (httpStatus >= 500 ? 'ServerError' : 'Rejected');
};

const retryAfterOf = (status: JsonObject, longestMs: number): number | undefined => {
  const seconds = objectAt(status.details).retryAfterSeconds;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1_000, longestMs) : undefined;
};

export interface FailedResponse {
  readonly method: string;
  readonly path: string;
  readonly httpStatus: number;
  /** The parsed body if there is one; its fields are used if it is a `Status`. */
  readonly json: unknown;
  /** The `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /** Longest accepted wait in milliseconds; longer ones are cut. Default: that of a seed. */
  readonly longestRetryAfterMs?: number | undefined;
}

/** Returns the typed error of a response that is not a success: by `Status.reason` first, by HTTP code second. */
export const statusError = (answer: FailedResponse): ApiError => {
  const { method, path, httpStatus, longestRetryAfterMs: longestMs = longestRetryAfterMs.seed } = answer;
  const json = objectAt(answer.json);
  const status: JsonObject = json.kind === 'Status' ? json : {};
  const code = codeOf(httpStatus, status, method);
  const words = oneLine(textAt(status.message));
  const redirect = httpStatus >= 300 && httpStatus < 400 ? 'redirects are not followed; check the server address' : '';
  return new ApiError({
    code,
    status: httpStatus,
    message: `${method} ${path}: ${httpStatus} ${code}: ${words || redirect || 'the server gave no reason'}`,
    retryAfterMs: parseRetryAfter(answer.retryAfter, longestMs) ?? retryAfterOf(status, longestMs),
  });
};
