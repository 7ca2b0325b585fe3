import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { ApiError } from '../api/errors.ts';
import type { Kube } from '../api/kube.ts';
import { type CallContext, createBackoff } from '../client/index.ts';
import { type Listed, listPages } from './list-pages.ts';
import { type Project, type Replacement, createObjectCache } from './object-cache.ts';
import type { Store } from './store.ts';
import { createWatchLiveness } from './watch-liveness.ts';
import { type WatchRegistry, resourceOf } from './watch-registry.ts';
import { watchOnce } from './watch.ts';

const longestPageBytes = 256 * 1024 * 1024;
const defaultPageSize = 500;
/** Server-side time-out of a watch: random between this and twice this, so that watches do not end all at once. */
const shortestWatchSeconds = 300;
/** A watch that lasted this long was a good one: the server is not merely closing whatever is opened. */
const goodSpellMs = 10_000;
/** Broken streams in a row without a single event, after which resuming at the same place is given up. */
const mostMalformed = 3;

/** Resuming would fail the same way: the version is gone, the kind is, or the server does not understand us. */
const relistOn = new Set(['Expired', 'NotFound', 'BadRequest', 'Invalid']);

export interface InformerOptions<T> {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Path of the list, such as `/api/v1/secrets`. */
  readonly path: string;
  readonly query?: { readonly fieldSelector?: string; readonly labelSelector?: string };
  /** Asks for `PartialObjectMetadata` instead of whole objects. */
  readonly metadataOnly?: boolean;
  /** What is kept of each object. An object it throws at is logged, counted and left out, or keeps its last good state. */
  readonly project: Project<T>;
  /** Objects per page of a list. Default 500. */
  readonly pageSize?: number;
  /** Of all watches of the process. */
  readonly registry: WatchRegistry;
}

export interface InformerState {
  readonly synced: boolean;
  readonly objects: number;
  /** Objects that `project` threw at. */
  readonly undecodable: number;
  /** Monotonic instant of the last list. What changed before it may have changed more than once. */
  readonly listedAt: number | undefined;
  /** Why the last list or watch failed; undefined while all is well. */
  readonly lastError: Error | undefined;
  /** `lastError` in words, and for how long nothing was heard where that is too long; undefined while all is well. */
  readonly problem: string | undefined;
}

export interface Informer<T> extends Store<T> {
  /** Path and selectors, for logs and messages. */
  readonly name: string;
  /** Lists and watches until `signal` aborts, then resolves; never rejects. To be called once. */
  run(signal: AbortSignal): Promise<void>;
  state(): InformerState;
  /** Milliseconds since the watch was lost; 0 while it is open, or is being opened for the first time. */
  awayMs(): number;
}

/** Content negotiation of client-go's metadata client (`metadata/metadata.go`). */
const acceptOf = (metadataOnly: boolean): { readonly list: string; readonly watch: string } => {
  const of = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
  if (!metadataOnly) return { list: 'application/json', watch: 'application/json' };
  return { list: of('PartialObjectMetadataList'), watch: of('PartialObjectMetadata') };
};

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const retryAfterOf = (error: Error | undefined): number => (error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);

/** Keeps a cache in step with the API server by a list and a watch (client-go's Reflector and Indexer in one). */
export const createInformer = <T>(options: InformerOptions<T>): Informer<T> => {
  const { kube, clock, random, path, registry } = options;
  const accept = acceptOf(options.metadataOnly ?? false);
  const query: Readonly<Record<string, string>> = { ...options.query };
  const name = [path, ...Object.entries(query).map(([key, value]) => `${key} ${value}`)].join(', ');
  const logger = options.logger.child({ informer: name });
  const cache = createObjectCache(options.project, logger);
  const backoff = createBackoff(random);
  /** Where the next watch starts; undefined: a list comes first. */
  let position: Listed | undefined;
  let listedAt: number | undefined;
  let lastError: Error | undefined;
  let warned = false;
  let malformed = 0;
  const resource = resourceOf(path);
  const liveness = createWatchLiveness({ clock, registry, resource });

  const list = async (signal: AbortSignal): Promise<Listed> => {
    let replacement: Replacement = cache.replace();
    const context: CallContext = { kube, clock, objectBytes: longestPageBytes, accept: accept.list };
    const listed = await listPages({
      path,
      query,
      pageSize: options.pageSize ?? defaultPageSize,
      signal,
      context,
      begin: () => {
        replacement = cache.replace();
        return (item) => replacement.add(item);
      },
    });
    listedAt = clock.monotonic();
    replacement.commit();
    liveness.heard();
    lastError = undefined;
    logger.debug('listed', { objects: cache.size, resourceVersion: listed.resourceVersion });
    return listed;
  };

  const follow = async (from: Listed, signal: AbortSignal): Promise<void> => {
    const events = watchOnce({
      kube,
      clock,
      signal,
      path,
      query,
      accept: accept.watch,
      resourceVersion: from.resourceVersion,
      timeoutSeconds: Math.floor(shortestWatchSeconds * (1 + random.next())),
      kind: from.kind,
      bookmarked: registry.bookmarked.has(resource),
      onOpen: () => {
        liveness.opened();
        lastError = undefined;
      },
      onHeard: liveness.heard,
    });
    for await (const event of events) {
      malformed = 0;
      if (event.type === 'DELETED') cache.remove(event.object);
      else if (event.type === 'BOOKMARK') liveness.bookmark();
      else cache.set(event.object);
      position = { ...from, resourceVersion: event.resourceVersion };
    }
  };

  const fail = (error: Error): void => {
    lastError = error;
    const code = error instanceof ApiError ? error.code : undefined;
    if (code === 'MalformedResponse') malformed += 1;
    if ((code !== undefined && relistOn.has(code)) || malformed >= mostMalformed) {
      position = undefined;
      malformed = 0;
    }
    const fields = { problem: error.message, ...(code === undefined ? {} : { code }) };
    if (warned || code === 'Expired') logger.debug('list and watch interrupted, trying again', fields);
    else logger.warn('list and watch interrupted, trying again', fields);
    warned = true;
  };

  /** One list if needed, one watch; the wait before the next, in milliseconds. */
  const step = async (signal: AbortSignal): Promise<number> => {
    let failure: Error | undefined;
    try {
      position ??= await list(signal);
      await follow(position, signal);
    } catch (error) {
      if (signal.aborted) return 0;
      failure = asError(error);
    }
    const { openMs, isPrecaution } = liveness.ended(failure);
    if (isPrecaution) {
      logger.debug('nothing heard: opening the watch anew', { problem: failure?.message });
      return 0;
    }
    const wasGood = openMs >= goodSpellMs;
    if (wasGood) {
      backoff.reset();
      warned = false;
    }
    if (failure !== undefined) fail(failure);
    else if (wasGood) return 0;
    return Math.max(backoff.next(), retryAfterOf(failure));
  };

  const problem = (): string | undefined => {
    const problems = [lastError?.message, liveness.silence()].filter((text) => text !== undefined);
    return problems.length === 0 ? undefined : problems.join('; ');
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    liveness.heard();
    const leave = registry.enter({ resource, selector: Object.values(query).join(), ageMs: liveness.ageMs, problem });
    while (!signal.aborted) {
      const waitMs = await step(signal);
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
    leave();
  };

  return {
    name,
    run,
    state: () => ({
      synced: cache.store.synced,
      objects: cache.size,
      undecodable: cache.undecodable,
      listedAt,
      lastError,
      problem: problem(),
    }),
    awayMs: () => (lastError === undefined ? 0 : liveness.ageMs()),
    get synced() {
      return cache.store.synced;
    },
    get: (key) => cache.store.get(key),
    entries: () => cache.store.entries(),
    subscribe: (listener) => cache.store.subscribe(listener),
    whenSynced: (signal) => cache.store.whenSynced(signal),
  };
};
