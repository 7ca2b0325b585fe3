import type { Clock } from '../../ports/clock.ts';
import { type JsonObject, isObject } from '../api/decode.ts';
import { ApiError, ResponseError } from '../api/errors.ts';
import type { Kube } from '../api/kube.ts';
import { guardSilence, readFailure, statusError } from '../client/index.ts';
import { createScope, parseJson } from '../transport/index.ts';
import { splitLines } from './lines.ts';

/** Maximum size of an event: far above etcd's default limit of 1.5 MiB per object. */
const longestEventBytes = 64 * 1024 * 1024;
/**
 * A stream may be silent for this long: kube-apiserver sends each watcher a bookmark a minute, a second or two late (`nextBookmarkTime` in
 * `storage/cacher`). It sends none until its cache has got beyond the resourceVersion at which the watch began (`cacheWatcher.process`), and none on a
 * watch that it serves from etcd; such a watch costs one request in this time.
 */
export const longestSilenceMs = 90_000;
/** Timeout from sending the request to the response's head, which kube-apiserver sends before there is an event (`endpoints/handlers/watch.go`). */
const openTimeoutMs = 30_000;

/** We gave up a silent watch. A `Timeout` in a response or in an ERROR event is another case: there the server is alive. */
export class WatchSilentError extends ApiError {
  constructor(message: string) {
    super({ code: 'Timeout', message });
  }
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** The object; that of a bookmark has only a resourceVersion. */
  readonly object: JsonObject;
  /** The resourceVersion from which to resume after this event. */
  readonly resourceVersion: string;
}

export interface WatchOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly path: string;
  /** Selectors of the list. */
  readonly query: Readonly<Record<string, string>>;
  readonly resourceVersion: string;
  /** Time after which the server ends the stream. */
  readonly timeoutSeconds: number;
  /** Expected kind of every object; undefined: not known, any is accepted. */
  readonly kind: string | undefined;
  /** Called when the server has accepted the watch. */
  readonly onOpen: () => void;
  /** Called for each chunk of the stream, even if it completes no event. */
  readonly onHeard: () => void;
}

const resourceVersionOf = (object: JsonObject): string => {
  const version = isObject(object.metadata) ? object.metadata.resourceVersion : undefined;
  return typeof version === 'string' ? version : '';
};

/** Parses one line of the stream. Throws the ApiError of an ERROR event, and a ResponseError for anything but an event of this watch. */
const parseEvent = (line: Buffer, { path, kind }: WatchOptions): WatchEvent => {
  const json = parseJson(line);
  const { type, object } = isObject(json) ? json : {};
  if (!isObject(object)) throw new ResponseError('an event without an object');
  if (type === 'ERROR') {
    const code = typeof object.code === 'number' ? object.code : 500;
    throw statusError({ method: 'GET', path, httpStatus: code, json: object });
  }
  if (kind !== undefined && object.kind !== undefined && object.kind !== kind) {
    throw new ResponseError(`an object of another kind than ${kind}`);
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') {
    throw new ResponseError('an event of an unknown type');
  }
  const resourceVersion = resourceVersionOf(object);
  if (resourceVersion === '') throw new ResponseError('an event without a resourceVersion');
  return { type, object, resourceVersion };
};

/** Passes chunks on and calls `onChunk` for each. */
async function* heard(chunks: AsyncIterable<Uint8Array>, onChunk: () => void): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    onChunk();
    yield chunk;
  }
}

/**
 * Sends one watch request and yields its events. Ends when the server ends the stream. Throws an ApiError for a refusal, an ERROR event, a broken
 * stream or a silent one (no head within 30 s; then no byte for 90 s), and the signal's reason on abort.
 */
export async function* watchOnce(options: WatchOptions): AsyncGenerator<WatchEvent, void> {
  const { kube, clock, path, timeoutSeconds } = options;
  const scope = createScope({ signal: options.signal, clock });
  const silence = guardSilence({
    clock,
    limitMs: longestSilenceMs,
    onSilence: (ms) => scope.fail(new WatchSilentError(`GET ${path}: watch: no byte within ${String(ms)} ms`)),
  });
  const hear = (): void => {
    silence.heard();
    options.onHeard();
  };
  let cancelOpening: (() => void) | undefined;
  const beginOpening = (): void => {
    const message = `GET ${path}: watch: no response within ${openTimeoutMs} ms`;
    cancelOpening?.();
    cancelOpening = clock.timer(openTimeoutMs, () => scope.fail(new ApiError({ code: 'Timeout', message })));
  };
  try {
    const response = await kube.request({
      method: 'GET',
      path,
      query: {
        ...options.query,
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: options.resourceVersion,
        timeoutSeconds: String(timeoutSeconds),
      },
      headers: { accept: 'application/json' },
      // The informer itself waits and retries.
      noRetry: true,
      beforeSend: beginOpening,
      signal: scope.signal,
    });
    cancelOpening?.();
    if (response.status !== 200) throw await readFailure(response, { method: 'GET', path }, { clock, scope });
    silence.heard();
    options.onOpen();
    for await (const line of splitLines(heard(response.body, hear), longestEventBytes)) {
      yield parseEvent(line, options);
    }
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    throw new ApiError({ code: 'MalformedResponse', message: `GET ${path}: watch: ${error.message}` });
  } finally {
    cancelOpening?.();
    silence.stop();
    scope.end();
  }
}
