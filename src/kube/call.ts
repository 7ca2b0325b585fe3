import {
  type Answer,
  ApiError,
  type Call,
  DecodeError,
  ProtobufError,
  protobufMediaType,
  readProtobufStatus,
} from '../domain/index.ts';
import type { CallOptions, Clock, Kube, KubeRequest, KubeResponse } from '../ports/index.ts';
import { longestRetryAfterMs, parseRetryAfter } from './retry-after.ts';
import { statusError } from './status-error.ts';
import { untilSent } from './until-sent.ts';

/** An error's body is a `Status`, a few hundred bytes; what is longer is not read to its end. */
const errorBodyLimitBytes = 1024 * 1024;

export interface CallContext {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly bodyLimitBytes: number;
  /** Value of the `Accept` header; protobuf goes before it where the call can read it. */
  readonly accept: string;
  /** Longer waits that the server asks for are cut. Default: that of a seed. */
  readonly longestRetryAfterMs?: number | undefined;
}

/** The whole body, or undefined when it is larger than `limit` bytes. */
const readBody = async (body: KubeResponse['body'], limit: number): Promise<Buffer | undefined> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
};

/** The value, or undefined for what is not JSON. JSON.parse's own message quotes the text, which may be a Secret. */
const parseJson = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
};

const isProtobuf = ({ headers }: KubeResponse): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === protobufMediaType;

/** The `Status` of an error's body, as far as there is one. */
const parseStatus = (response: KubeResponse, bytes: Buffer | undefined): unknown => {
  if (bytes === undefined) return undefined;
  if (!isProtobuf(response)) return parseJson(bytes);
  try {
    return readProtobufStatus(bytes);
  } catch (error) {
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
};

/** Reads the answer that is no success into its ApiError. */
export const readFailure = async (
  response: KubeResponse,
  request: Pick<KubeRequest, 'method' | 'path'>,
  context: Pick<CallContext, 'clock' | 'longestRetryAfterMs'>,
): Promise<ApiError> => {
  const { clock, longestRetryAfterMs: longestMs = longestRetryAfterMs.seed } = context;
  return statusError({
    method: request.method,
    path: request.path,
    httpStatus: response.status,
    json: parseStatus(response, await readBody(response.body, errorBodyLimitBytes)),
    retryAfterMs: parseRetryAfter(response.headers['retry-after'], { now: clock.now(), longestMs }),
    longestRetryAfterMs: longestMs,
  });
};

const requestOf = <T>(call: Call<T>, options: CallOptions, accept: string): KubeRequest => ({
  method: call.method,
  path: call.path,
  headers: {
    accept: call.protobuf === undefined ? accept : `${protobufMediaType},${accept}`,
    ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
  },
  signal: options.signal,
  ...(call.query === undefined ? {} : { query: call.query }),
  ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  ...(call.repeatable === undefined ? {} : { repeatable: call.repeatable }),
  ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  ...(options.once === undefined ? {} : { once: options.once }),
  ...(options.lane === undefined ? {} : { lane: options.lane }),
  ...(options.beforeSend === undefined ? {} : { beforeSend: options.beforeSend }),
});

/** One exchange, its answer read whole and decoded. Rejects with an ApiError, or with the signal's reason on abort. */
export const performCall = async <T>(call: Call<T>, options: CallOptions, context: CallContext): Promise<Answer<T>> => {
  const { sentTimeoutMs } = options;
  if (sentTimeoutMs === undefined) return exchange(call, options, context);
  const unsent = untilSent({ ...options, sentTimeoutMs }, context.clock);
  try {
    return await exchange(call, { ...options, ...unsent }, context);
  } finally {
    unsent.release();
  }
};

const malformedAnswer = <T>({ method, path }: Call<T>, problem: string): ApiError =>
  new ApiError({ code: 'MalformedResponse', message: `${method} ${path}: ${problem}` });

const readValue = <T>(call: Call<T>, response: KubeResponse, bytes: Buffer): T => {
  if (call.text !== undefined) return call.text(bytes.toString('utf8'), response.status);
  if (isProtobuf(response)) {
    if (call.protobuf === undefined) throw malformedAnswer(call, 'the answer is protobuf, which was not asked for');
    return call.protobuf(bytes);
  }
  const json = parseJson(bytes);
  if (json === undefined) throw malformedAnswer(call, 'the answer is not JSON');
  return call.decode(json);
};

const exchange = async <T>(call: Call<T>, options: CallOptions, context: CallContext): Promise<Answer<T>> => {
  const { clock } = context;
  const malformed = (problem: string): ApiError => malformedAnswer(call, problem);
  const sentAt = clock.monotonic();
  const response = await context.kube.request(requestOf(call, options, context.accept));
  if (response.status < 200 || response.status > 299) throw await readFailure(response, call, context);
  const bytes = await readBody(response.body, context.bodyLimitBytes);
  const receivedAt = clock.monotonic();
  if (bytes === undefined) throw malformed(`the answer is larger than ${context.bodyLimitBytes} bytes`);
  const date = Date.parse(response.headers.date ?? '');
  try {
    const value = readValue(call, response, bytes);
    return { value, sentAt, receivedAt, ...(Number.isNaN(date) ? {} : { date }) };
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ProtobufError) throw malformed(error.message);
    throw error;
  }
};
