import { errorText } from '../api/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import type { Kube, KubeClient } from '../api/kube.ts';
import type { ResourceRef } from '../api/resource-ref.ts';
import { resourcePath } from '../api/resource-path.ts';
import { resolveKind } from '../client/index.ts';
import type { ServedKind } from './dependent-source.ts';
import { type Informer, createInformer } from './informer.ts';
import { DeferredStore } from './deferred-store.ts';
import type { Store } from './store.ts';
import type { WatchRegistry } from './watch-registry.ts';

export interface WatchKindDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly kube: Kube;
  readonly client: KubeClient;
  readonly registry: WatchRegistry;
}

export interface WatchKindOptions<T> {
  readonly ref: ResourceRef;
  /** True if all objects of the kind are watched. Default: only those with the name of `ref`. */
  readonly ofAnyName?: boolean;
  /** Name of the resource in logs. */
  readonly key: string;
  /** Converts each object to the form that the store keeps. */
  readonly project: (json: unknown, path: string) => T;
  /** True if a kind without a `scale` subresource counts as not served. */
  readonly needsScale: boolean;
  /** Called with every result of discovery and the one before it. */
  readonly onServed: (result: ServedKind, before: ServedKind) => void;
}

export interface KindWatch<T> {
  served(): ServedKind;
  readonly store: Store<T>;
  /** Discovers the kind, then watches the objects until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns why the cache is not synced yet or why the last watch failed; undefined if neither applies. */
  problem(): string | undefined;
  /** Returns the milliseconds since the watch was lost; 0 while it is open. */
  interruptedMs(): number;
  /** Returns the monotonic instant since which no change was missed; undefined while the watch is lost, or has not begun. */
  watchedSince(): number | undefined;
}

/** Milliseconds until discovery is repeated for a kind that is not served (`rediscoverMs`) or not known yet (`retryDiscoveryMs`). */
const rediscoverMs = 30_000;
const retryDiscoveryMs = 2_000;
const discoveryTimeoutMs = 10_000;

/**
 * Discovers a kind and watches its objects, of one name or (`ofAnyName`) all, in all namespaces. Discovery is repeated while the kind is not served,
 * because it may be added later.
 */
export const watchKind = <T>(options: WatchKindOptions<T>, deps: WatchKindDeps): KindWatch<T> => {
  const { ref, key, project, ofAnyName = false } = options;
  const { clock, logger } = deps;
  const store = new DeferredStore<T>();
  let served: ServedKind = { kind: 'unknown' };
  let informer: Informer<T> | undefined;
  let lastError: string | undefined;

  const discoverOnce = async (signal: AbortSignal): Promise<ServedKind> => {
    try {
      const found = await resolveKind(deps.client, ref, { signal, timeoutMs: discoveryTimeoutMs });
      if (found.kind === 'not-served' || found.hasScale || !options.needsScale) return found;
      return { kind: 'not-served', problem: `${ref.kind} of ${ref.apiVersion} has no scale subresource` };
    } catch (error) {
      signal.throwIfAborted();
      const message = errorText(error);
      if (message !== lastError) logger.warn('discovery failed, trying again', { resource: key, problem: message });
      lastError = message;
      return served;
    }
  };

  const discover = async (signal: AbortSignal): Promise<string> => {
    for (;;) {
      const result = await discoverOnce(signal);
      options.onServed(result, served);
      served = result;
      if (result.kind === 'served') return result.resource;
      await clock.sleep(result.kind === 'unknown' ? retryDiscoveryMs : rediscoverMs, signal);
    }
  };

  return {
    served: () => served,
    store,
    interruptedMs: () => informer?.interruptedMs() ?? 0,
    problem: () => (served.kind === 'not-served' ? served.problem : (informer?.state().problem ?? lastError)),
    watchedSince: () => {
      const state = informer?.state();
      return state?.problem === undefined ? state?.listedAt : undefined;
    },
    run: async (signal) => {
      try {
        const resource = await discover(signal);
        lastError = undefined;
        informer = createInformer<T>({
          ...deps,
          path: resourcePath({ apiVersion: ref.apiVersion, resource }),
          ...(ofAnyName ? {} : { query: { fieldSelector: `metadata.name=${ref.name}` } }),
          project,
        });
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      store.connect(informer);
      await informer.run(signal);
    },
  };
};
