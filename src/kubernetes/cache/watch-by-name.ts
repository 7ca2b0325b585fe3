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

export interface WatchByNameDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly kube: Kube;
  readonly client: KubeClient;
  readonly registry: WatchRegistry;
}

export interface WatchByNameOptions<T> {
  readonly ref: ResourceRef;
  /** All objects of the kind are watched, whatever their names. Default: those of the name. */
  readonly ofAnyName?: boolean;
  /** For logs. */
  readonly key: string;
  /** Makes of each object what the store keeps. */
  readonly project: (json: unknown, path: string) => T;
  /** A kind without a `scale` subresource counts as not served. */
  readonly needsScale: boolean;
  /** Hears every answer of discovery, and the one before it. */
  readonly onServed: (answer: ServedKind, before: ServedKind) => void;
}

export interface WatchByName<T> {
  served(): ServedKind;
  readonly store: Store<T>;
  /** Discovers the kind, then watches the objects until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Why the cache is not filled yet, or the last watch failed. */
  problem(): string | undefined;
  /** Milliseconds since the watch was lost; 0 while it is open. */
  awayMs(): number;
  /** Monotonic instant since which no change was missed; undefined while the watch is away, or has not begun. */
  watchedSince(): number | undefined;
}

/** Milliseconds until discovery is repeated for a kind that is not served, or not known yet. */
const rediscoverMs = 30_000;
const retryDiscoveryMs = 2_000;
const discoveryTimeoutMs = 10_000;

/**
 * All objects of one name: their kind from discovery, themselves from one watch over all namespaces. A kind that is not served may appear later, so it is asked
 * for again and again.
 */
export const watchByName = <T>(options: WatchByNameOptions<T>, deps: WatchByNameDeps): WatchByName<T> => {
  const { ref, key, project, ofAnyName = false } = options;
  const { clock, logger } = deps;
  const store = new DeferredStore<T>();
  let served: ServedKind = { kind: 'unknown' };
  let informer: Informer<T> | undefined;
  let lastError: string | undefined;

  const ask = async (signal: AbortSignal): Promise<ServedKind> => {
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
      const answer = await ask(signal);
      options.onServed(answer, served);
      served = answer;
      if (answer.kind === 'served') return answer.resource;
      await clock.sleep(answer.kind === 'unknown' ? retryDiscoveryMs : rediscoverMs, signal);
    }
  };

  return {
    served: () => served,
    store,
    awayMs: () => informer?.awayMs() ?? 0,
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
