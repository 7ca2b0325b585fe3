import type { Clock } from '../../ports/clock.ts';
import { type CallResult, type Call, type ListReading, smallResponseBytes } from '../api/call.ts';
import { ApiError, ResponseError } from '../api/errors.ts';
import type { CallOptions, Kube, KubeClient, KubeRequest, KubeResponse } from '../api/kube.ts';
import { protobufMediaType, readProtobufStatus } from '../protobuf/index.ts';
import { type Scope, createScope, parseJson, startTimeout } from '../transport/index.ts';
import type { BodyBudget } from './body-budget.ts';
import { type BodyReader, type ReadOptions, ignoreBody, readBody, wholeBody } from './read-body.ts';
import { readList } from './read-list.ts';
import { statusError } from './status-error.ts';

/** etcd accepts objects of 1.5 MiB (https://etcd.io/docs/latest/dev-guide/limit), which a Secret, larger in base64, may fill. */
const defaultObjectBytes = 2 * 1024 * 1024;

/** What all calls of a client have in common. */
export interface CallContext {
  readonly kube: Kube;
  readonly clock: Clock;
  /** Maximum size in bytes of an object, unless the call sets its own, and of an item of a list; a larger one is a MalformedResponse. Default 2 MiB. */
  readonly objectBytes?: number | undefined;
  /** Longest accepted `Retry-After` in milliseconds; longer ones are cut. Default: that of a seed. */
  readonly longestRetryAfterMs?: number | undefined;
  /** Memory for incoming bodies. Absent: no limit. */
  readonly budget?: BodyBudget | undefined;
}

const isProtobuf = ({ headers }: KubeResponse): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === protobufMediaType;

/** Parses the body of an error, which may be a `Status`. */
const parseStatus = (response: KubeResponse, bytes: Uint8Array): unknown =>
  isProtobuf(response) ? readProtobufStatus(bytes) : parseJson(bytes);

const readStatus = async (response: KubeResponse, options: ReadOptions): Promise<unknown> => {
  const isJson = !isProtobuf(response);
  const reader = wholeBody(smallResponseBytes, { isJson, read: (bytes) => parseStatus(response, bytes) });
  try {
    return await readBody(response.body, reader, options);
  } catch (error) {
    // Without a readable body, the HTTP code alone classifies the error.
    if (error instanceof ResponseError) return undefined;
    throw error;
  }
};

/** Reads an unsuccessful response and returns its ApiError. A `Status` takes a few hundred bytes; a body of more than 64 KiB is not read to its end. */
export const readFailure = async (
  response: KubeResponse,
  request: Pick<KubeRequest, 'method' | 'path'>,
  options: Omit<ReadOptions, 'request'> & Pick<CallContext, 'longestRetryAfterMs'>,
): Promise<ApiError> =>
  statusError({
    method: request.method,
    path: request.path,
    httpStatus: response.status,
    json: await readStatus(response, { ...options, request: `${request.method} ${request.path}` }),
    retryAfter: response.headers['retry-after'],
    longestRetryAfterMs: options.longestRetryAfterMs,
  });

const requestOf = <T>(
  { method, path, query, repeatable, body, contentType = 'application/json', list }: Call<T>,
  { timeoutMs, noRetry, priority, beforeSend, signal }: CallOptions,
): KubeRequest => ({
  ...{ method, path, query, repeatable, timeoutMs, noRetry, priority, beforeSend, signal },
  headers: {
    accept: list?.protobufItem !== undefined ? `${protobufMediaType},application/json` : 'application/json',
    ...(body === undefined ? {} : { 'content-type': contentType }),
  },
  body: body === undefined ? undefined : JSON.stringify(body),
});

/** Performs one exchange, or one per page, and decodes the response. Any problem with it becomes a MalformedResponse. */
const performCall = async <T>(call: Call<T>, options: CallOptions, context: CallContext): Promise<CallResult<T>> => {
  try {
    return await (call.list === undefined
      ? exchange(call, { readerOf: readerOf(call, context), options, context })
      : performList(call, call.list, { options, context }));
  } catch (error) {
    if (error instanceof ResponseError) {
      const { method, path } = call;
      throw new ApiError({ code: 'MalformedResponse', message: `${method} ${path}: ${error.message}` });
    }
    throw error;
  }
};

/** Creates the client that the controllers use: it performs calls in JSON or protobuf, and every failure is an ApiError. */
export const createKubeClient = (context: CallContext): KubeClient => ({
  call: (call, options) => performCall(call, options, context),
});

const performList = <T>(
  call: Call<T>,
  list: ListReading<T>,
  { options, context }: { readonly options: CallOptions; readonly context: CallContext },
): Promise<CallResult<T>> => {
  const { clock, objectBytes = defaultObjectBytes } = context;
  const startedAt = clock.monotonic();
  const timeLeft = (): number | undefined =>
    // Without time left, a page ends in a Timeout like any other.
    options.timeoutMs && Math.max(1, options.timeoutMs - (clock.monotonic() - startedAt));
  return readList(list, objectBytes, (query, readerOfPage) =>
    exchange(
      { ...call, query: { ...call.query, ...query } },
      {
        readerOf: (response) => readerOfPage(isProtobuf(response)),
        options: { ...options, timeoutMs: list.pageTimeoutMs ?? timeLeft() },
        context,
      },
    ),
  );
};

const readerOf =
  <T>(call: Call<T>, { objectBytes = defaultObjectBytes }: CallContext) =>
  (response: KubeResponse): BodyReader<T> => {
    const { text, bytes: limitBytes = objectBytes } = call;
    if (call.ignoresBody === true) return ignoreBody(limitBytes, () => call.decode(undefined));
    if (text !== undefined) {
      const read = (bytes: Uint8Array): T => text(Buffer.from(bytes).toString('utf8'), response.status);
      return wholeBody(limitBytes, { isJson: false, read });
    }
    return wholeBody(limitBytes, { isJson: true, read: (bytes) => call.decode(parseJson(bytes)) });
  };

/** Refuses content encodings and media types that we did not request. */
const checkHead = ({ list, text, ignoresBody }: Call<unknown>, response: KubeResponse): void => {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new ResponseError('the response is compressed, which was not requested');
  if (isProtobuf(response) && list?.protobufItem === undefined && text === undefined && ignoresBody !== true) {
    throw new ResponseError('the response is protobuf, which was not requested');
  }
};

/** The transport's own timeout comes first, because its error says how far the exchange has come; then all attempts and waits together end. */
const transportFirstMs = 100;

const scopeOf = (
  { method, path }: Call<unknown>,
  { signal, timeoutMs = Number.POSITIVE_INFINITY }: CallOptions,
  clock: Clock,
): Scope =>
  createScope({
    signal,
    clock,
    timeoutMs: timeoutMs === Number.POSITIVE_INFINITY ? undefined : timeoutMs + transportFirstMs,
    onTimeout: () =>
      new ApiError({ code: 'Timeout', message: `${method} ${path}: not done within ${String(timeoutMs)} ms` }),
  });

/**
 * Returns a hook for the moment of sending, after which `sentTimeoutMs` counts, once even if the request is sent again. From then on a write is awaited, and its
 * caller no longer ends the scope: the sender must know if it took effect.
 */
const awaitOnceSent = (
  scope: Scope,
  { method, sentTimeoutMs, beforeSend }: CallOptions & Pick<Call<unknown>, 'method'>,
  clock: Clock,
) => {
  if (sentTimeoutMs === undefined) return { beforeSend, cancel: () => undefined };
  let cancel: (() => void) | undefined;
  const message = `no response within ${String(sentTimeoutMs)} ms of being sent`;
  return {
    beforeSend: (): void => {
      beforeSend?.();
      if (method !== 'GET') scope.leaveCaller();
      cancel ??= startTimeout(clock, sentTimeoutMs, () => scope.fail(new ApiError({ code: 'Timeout', message })));
    },
    cancel: () => cancel?.(),
  };
};

interface Exchange<R> {
  readonly readerOf: (response: KubeResponse) => BodyReader<R>;
  readonly options: CallOptions;
  readonly context: CallContext;
}

const exchange = async <T, R>(
  call: Call<T>,
  { readerOf: open, options, context }: Exchange<R>,
): Promise<CallResult<R>> => {
  const { clock, budget, longestRetryAfterMs: longestMs } = context;
  const scope = scopeOf(call, options, clock);
  const { beforeSend, cancel } = awaitOnceSent(scope, { ...options, method: call.method }, clock);
  try {
    const sentAt = clock.monotonic();
    const sent = { ...options, signal: scope.signal, beforeSend };
    const response = await context.kube.request(requestOf(call, sent));
    const reading = { clock, scope, budget, longestRetryAfterMs: longestMs };
    if (response.status < 200 || response.status > 299) throw await readFailure(response, call, reading);
    let value: R;
    try {
      checkHead(call, response);
      value = await readBody(response.body, open(response), { ...reading, request: `${call.method} ${call.path}` });
    } catch (error) {
      // Ends the connection if the body was not read at all.
      scope.fail(error);
      throw error;
    }
    const date = Date.parse(response.headers.date ?? '');
    return { value, sentAt, receivedAt: clock.monotonic(), date: Number.isNaN(date) ? undefined : date };
  } finally {
    cancel();
    scope.end();
  }
};
