import { ObjectCache, type Project } from './object-cache.ts';
import { Reflector, type ReflectorOptions, type ReflectorState } from './reflector.ts';
import type { Store } from './store.ts';

export interface InformerOptions<T> extends ReflectorOptions {
  /** Default: the path and the selectors. */
  readonly name?: string;
  /** Converts each object to the form that the cache keeps. If it throws, the object is logged, counted and left out, or keeps its last good state. */
  readonly project: Project<T>;
}

/** What all informers of a component share. */
export type InformerDeps = Pick<ReflectorOptions, 'clock' | 'random' | 'logger' | 'registry'>;

export interface Informer<T> extends Store<T> {
  /** For logs and messages. */
  readonly name: string;
  /** Lists and watches until `signal` aborts, then resolves; never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  state(): ReflectorState;
  /** Returns the milliseconds since the watch was lost; 0 while it is open, or is being opened for the first time. */
  interruptedMs(): number;
}

/** Creates a cache (client-go's Indexer) with a reflector that keeps it in sync with the API server. */
export const createInformer = <T>(options: InformerOptions<T>): Informer<T> => {
  const selectors = Object.entries(options.query ?? {}).map(([key, value]) => `${key} ${value}`);
  const { path, name = [path, ...selectors].join(', ') } = options;
  const logger = options.logger.child({ informer: name });
  const cache = new ObjectCache(options.project, logger);
  const reflector = new Reflector(options, cache, logger);
  return {
    name,
    run: (signal) => reflector.run(signal),
    state: () => reflector.state(),
    interruptedMs: () => reflector.interruptedMs(),
    get synced() {
      return cache.synced;
    },
    get: (key) => cache.get(key),
    entries: () => cache.entries(),
    subscribe: (listener) => cache.subscribe(listener),
    whenSynced: (signal) => cache.whenSynced(signal),
  };
};
