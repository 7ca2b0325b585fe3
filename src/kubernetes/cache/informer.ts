import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube, KubeClient } from '../api/kube.ts';
import { createKubeClient } from '../client/index.ts';
import { type Listed, listInto } from './list-into.ts';
import { ObjectCache, type Project } from './object-cache.ts';
import type { Store } from './store.ts';
import { type WatchRegistry, resourceOf } from './watch-registry.ts';
import { WatchSilentError, longestSilenceMs, watchOnce } from './watch.ts';

/** Far above etcd's default limit of 1.5 MiB per object. */
const longestItemBytes = 64 * 1024 * 1024;
const defaultPageSize = 500;
/** The server-side timeout of a watch is random between this and twice this, so that watches do not all end at once. */
const shortestWatchSeconds = 300;
/** A watch that has been silent for this long could not be reopened. */
const overdueMs = longestSilenceMs + 1_000;
const confirmTimeoutMs = 10_000;
/** A watch that was open this long resets the back-off: the server does not just close every watch at once. */
const goodSpellMs = 10_000;
/** Range of the waits between failed attempts, as of client-go's reflector (`tools/cache/reflector.go`, defaultBackoffInit and defaultBackoffMax). */
const [shortestWaitMs, longestWaitMs] = [800, 30_000];
/** After this many malformed streams in a row without an event, we list again and no longer resume from the same resourceVersion. */
const mostMalformed = 3;

/** Errors after which we list again, because resuming would fail the same way: the version or the kind is gone, or the server refuses the request. */
const relistOn = new Set(['Expired', 'NotFound', 'BadRequest', 'Invalid']);

/** What all informers of a component share. */
export interface InformerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all watches of the process. */
  readonly registry: WatchRegistry;
}

export interface InformerOptions<T> extends InformerDeps {
  readonly kube: Kube;
  /** Default: the path and the selectors. */
  readonly name?: string;
  /** Converts each object to the form that the cache keeps. If it throws, the object is logged, counted and left out, or keeps its last good state. */
  readonly project: Project<T>;
  /**
   * Path of the list, such as `/api/v1/secrets`. A function finds it, such as that of the served version, before the first list, and again when the path is
   * no longer served; it rejects with an ApiError if it cannot.
   */
  readonly path: string | ((signal: AbortSignal) => Promise<string>);
  readonly query?: { readonly fieldSelector?: string; readonly labelSelector?: string };
  /** Objects per page of a list. Default 500. */
  readonly pageSize?: number;
}

export interface InformerState {
  readonly synced: boolean;
  /** Error of the last list or watch; undefined after a success. */
  readonly lastError: Error | undefined;
  /** Message of `lastError`, and the time without a byte from the server if that is too long; undefined if neither applies. */
  readonly problem: string | undefined;
}

export interface Informer<T> extends Store<T> {
  /** For logs and messages. */
  readonly name: string;
  /** Lists and watches until `signal` aborts, then resolves; never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  state(): InformerState;
  /** Returns the milliseconds since the watch was lost; 0 while it is open, or is being opened for the first time. */
  interruptedMs(): number;
}

type Position = Pick<Listed, 'resourceVersion' | 'kind'>;

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const retryAfterOf = (error: Error | undefined): number => (error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);

/** A cache that keeps itself in sync with the API server by list and watch (client-go's Indexer and Reflector). */
class WatchingCache<T> extends ObjectCache<T> implements Informer<T> {
  readonly name: string;
  readonly #options: InformerOptions<T>;
  readonly #logger: Logger;
  readonly #client: KubeClient;
  readonly #query: Readonly<Record<string, string>>;
  /** Number of attempts since the last good one. */
  #tries = 0;
  /** Undefined: find it first. */
  #path: string | undefined;
  /** Start of the next watch; undefined: list first. */
  #position: Position | undefined;
  /** Monotonic instant of the last byte, or when the server ended or broke the stream, in milliseconds. */
  #heardAt: number;
  /** Monotonic instant at which the server accepted the watch that is open, in milliseconds. */
  #openedAt: number | undefined;
  #wasSilent = false;
  #lastError: Error | undefined;
  #warned = false;
  /** Removes the watch from the registry; undefined: its path was never found. */
  #leave: (() => void) | undefined;
  #malformed = 0;

  constructor(name: string, options: InformerOptions<T>) {
    const logger = options.logger.child({ informer: name });
    super(options.project, logger);
    this.name = name;
    this.#options = options;
    this.#logger = logger;
    this.#client = createKubeClient({ kube: options.kube, clock: options.clock, objectBytes: longestItemBytes });
    this.#query = { ...options.query };
    this.#heardAt = options.clock.monotonic();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const waitMs = await this.#step(signal);
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
    this.#leave?.();
  }

  state(): InformerState {
    return { synced: this.synced, lastError: this.#lastError, problem: this.#problem() };
  }

  interruptedMs(): number {
    return this.#leave === undefined || this.#problem() === undefined ? 0 : this.#ageMs();
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
  }

  #ageMs(): number {
    return this.#options.clock.monotonic() - this.#heardAt;
  }

  #problem(): string | undefined {
    const ageMs = this.#ageMs();
    const silence =
      this.#leave !== undefined && ageMs > overdueMs
        ? `nothing heard of the watch for ${String(Math.round(ageMs / 1_000))} s`
        : undefined;
    const problems = [this.#lastError?.message, silence].filter((text) => text !== undefined);
    return problems.length === 0 ? undefined : problems.join('; ');
  }

  async #find(signal: AbortSignal): Promise<string> {
    const { path, registry } = this.#options;
    const found = typeof path === 'string' ? path : await path(signal);
    if (this.#leave === undefined) this.#heard();
    this.#leave?.();
    this.#leave = registry.enter({
      resource: resourceOf(found),
      selector: Object.values(this.#query).join(),
      ageMs: () => this.#ageMs(),
      problem: () => this.#problem(),
    });
    return found;
  }

  /** Finds the path and lists if needed, then watches once. Returns the wait before the next step in milliseconds. */
  async #step(signal: AbortSignal): Promise<number> {
    let failure: Error | undefined;
    try {
      this.#path ??= await this.#find(signal);
      this.#position ??= await this.#list(this.#path, signal);
      if (this.#wasSilent) await this.#confirm(this.#path, this.#position, signal);
      await this.#follow(this.#path, this.#position, signal);
    } catch (error) {
      if (signal.aborted) return 0;
      failure = asError(error);
    }
    const wasOpenAt = this.#openedAt;
    this.#openedAt = undefined;
    this.#wasSilent = failure instanceof WatchSilentError;
    if (wasOpenAt !== undefined) {
      if (failure instanceof WatchSilentError) {
        // The server may be healthy and have nothing to send.
        this.#logger.debug('nothing heard: opening the watch anew', { problem: failure.message });
        failure = undefined;
      } else {
        // The end of a stream is a sign of life of the server.
        this.#heard();
      }
    }
    const wasGood = wasOpenAt !== undefined && this.#options.clock.monotonic() - wasOpenAt >= goodSpellMs;
    if (wasGood) {
      this.#tries = 0;
      this.#warned = false;
    }
    if (failure !== undefined) this.#fail(failure);
    else if (wasGood) return 0;
    return Math.max(this.#nextWaitMs(), retryAfterOf(failure));
  }

  /** The maximum doubles from 1.6 s up to 30 s; each wait is random in the upper half of its range. */
  #nextWaitMs(): number {
    const most = Math.min(shortestWaitMs * 2 ** Math.min(this.#tries + 1, 10), longestWaitMs);
    this.#tries += 1;
    return (most / 2) * (1 + this.#options.random.next());
  }

  async #list(path: string, signal: AbortSignal): Promise<Listed> {
    const { pageSize = defaultPageSize } = this.#options;
    const call = listInto(this, { path, query: this.#query, pageSize });
    const { value: listed } = await this.#client.call(call, { signal });
    listed.commit();
    this.#heard();
    this.#lastError = undefined;
    this.#logger.debug('listed', { objects: this.size, resourceVersion: listed.resourceVersion });
    return listed;
  }

  /**
   * Rejects as Expired if etcd was restored to an earlier version than ours: the server would accept a watch from ours, and be silent. Any other failure shows
   * when the watch is opened.
   */
  async #confirm(path: string, { resourceVersion }: Position, signal: AbortSignal): Promise<void> {
    const query = { ...this.#query, limit: '1', resourceVersion, resourceVersionMatch: 'NotOlderThan' };
    const call = { method: 'GET', path, query, ignoresBody: true, decode: () => undefined } as const;
    try {
      await this.#client.call(call, { signal, timeoutMs: confirmTimeoutMs, noRetry: true });
    } catch (error) {
      if (signal.aborted || (error instanceof ApiError && error.code === 'Expired')) throw error;
    }
  }

  async #follow(path: string, { resourceVersion, kind }: Position, signal: AbortSignal): Promise<void> {
    const { kube, clock, random } = this.#options;
    const events = watchOnce({
      kube,
      clock,
      signal,
      path,
      query: this.#query,
      resourceVersion,
      timeoutSeconds: Math.floor(shortestWatchSeconds * (1 + random.next())),
      kind,
      onOpen: () => {
        this.#openedAt = clock.monotonic();
        this.#heard();
        this.#lastError = undefined;
      },
      onHeard: () => this.#heard(),
    });
    for await (const event of events) {
      this.#malformed = 0;
      if (event.type === 'DELETED') this.remove(event.object);
      else if (event.type !== 'BOOKMARK') this.set(event.object);
      this.#position = { kind, resourceVersion: event.resourceVersion };
    }
  }

  #fail(error: Error): void {
    this.#lastError = error;
    const code = error instanceof ApiError ? error.code : undefined;
    if (code === 'MalformedResponse') this.#malformed += 1;
    if ((code !== undefined && relistOn.has(code)) || this.#malformed >= mostMalformed) {
      this.#position = undefined;
      this.#malformed = 0;
    }
    if (code === 'NotFound') this.#path = undefined;
    const fields = { problem: error.message, code };
    const level = this.#warned || code === 'Expired' ? 'debug' : 'warn';
    this.#logger[level]('list and watch interrupted, trying again', fields);
    this.#warned = true;
  }
}

export const createInformer = <T>(options: InformerOptions<T>): Informer<T> => {
  const selectors = Object.entries(options.query ?? {}).map(([key, value]) => `${key} ${value}`);
  const { path, name = [path, ...selectors].join(', ') } = options;
  return new WatchingCache(name, options);
};
