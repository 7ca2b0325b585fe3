import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { isApiError } from '../api/errors.ts';
import { DeferredStore } from './deferred-store.ts';
import { type Informer, type InformerOptions, createInformer } from './informer.ts';
import type { Project } from './object-cache.ts';
import type { ReflectorState } from './reflector.ts';
import type { WatchKindDeps } from './watch-kind.ts';

export interface DiscoveredInformerOptions<T> {
  /** Name for logs and messages until the path is found. */
  readonly name: string;
  /** Resolves with the path that serves the objects. Rejects with the reason why it is not known yet, or with that of `signal`. */
  readonly findPath: (signal: AbortSignal) => Promise<string>;
  readonly project: Project<T>;
}

const retryMs = 2_000;
/** Interval of a check: if the API server no longer serves the path, as after a CustomResourceDefinition dropped a version, discovery runs again. */
const refindMs = 10_000;

interface DiscoveryContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onError: (error: Error) => void;
}

const untilFound = async (
  { name, findPath }: Pick<DiscoveredInformerOptions<unknown>, 'name' | 'findPath'>,
  { clock, logger, signal, onError }: DiscoveryContext,
): Promise<string> => {
  for (let known = ''; ; ) {
    try {
      return await findPath(signal);
    } catch (error) {
      signal.throwIfAborted();
      const failed = error instanceof Error ? error : new Error(String(error));
      onError(failed);
      const { message: problem } = failed;
      if (problem !== known) logger.warn('discovery failed, trying again', { resource: name, problem });
      known = problem;
      await clock.sleep(retryMs, signal);
    }
  }
};

const stateBeforeDiscovery = (lastError: Error | undefined): ReflectorState => ({
  synced: false,
  objects: 0,
  undecodable: 0,
  listedAt: undefined,
  lastError,
  problem: lastError?.message,
});

/**
 * Creates an informer of objects whose path must be discovered first, such as that of the served version. Discovery is retried until it succeeds, and
 * repeated when the path is no longer served. Meanwhile the store keeps its objects; objects that are the same at the new path are not announced.
 */
export const createDiscoveredInformer = <T>(
  options: DiscoveredInformerOptions<T>,
  deps: WatchKindDeps,
): Informer<T> => {
  const { name, project } = options;
  const store = new DeferredStore<T>();
  let informer: Informer<T> | undefined;
  let lastError: Error | undefined;
  return {
    name,
    get synced() {
      return store.synced;
    },
    get: (key) => store.get(key),
    entries: () => store.entries(),
    subscribe: (listener) => store.subscribe(listener),
    whenSynced: (signal) => store.whenSynced(signal),
    state: () => informer?.state() ?? stateBeforeDiscovery(lastError),
    interruptedMs: () => informer?.interruptedMs() ?? 0,
    run: async (signal) => {
      const onError = (error: Error): void => {
        lastError = error;
      };
      const context = { ...deps, signal, onError };
      const untilAborted = async (work: () => Promise<void>): Promise<void> => {
        try {
          await work();
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      };
      await untilAborted(async () => {
        let path = await untilFound(options, context);
        // The reflector reads the path before each list and watch.
        const watching: InformerOptions<T> = {
          ...deps,
          project,
          get path() {
            return path;
          },
        };
        const found = createInformer<T>(watching);
        informer = found;
        store.connect(found);
        const refind = async (): Promise<void> => {
          while (!signal.aborted) {
            await deps.clock.sleep(refindMs, signal);
            if (isApiError(found.state().lastError, 'NotFound')) path = await untilFound(options, context);
          }
        };
        await Promise.all([found.run(signal), untilAborted(refind)]);
      });
    },
  };
};
