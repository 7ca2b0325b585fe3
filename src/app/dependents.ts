import { decodeScalable, type DependentResource, refKey, type ScalableObject } from '../domain/index.ts';
import { createInformer, groupVersionPath, type Informer, resolveKind, type WatchRegistry } from '../kube/index.ts';
import type { Clock, DependentSource, Gauge, Kube, KubeClient, Logger, Random, ServedKind } from '../ports/index.ts';
import { createLateStore } from './late-store.ts';

export interface WatchDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly kube: Kube;
  readonly client: KubeClient;
  readonly registry: WatchRegistry;
  /** By `resource`: 1 while a dependent resource cannot be scaled because the API server does not serve its kind. */
  readonly unserved: Gauge;
}

export interface WatchedDependent extends DependentSource {
  /** `refKey` of the resource. */
  readonly key: string;
  /** Discovers the kind, then watches the resource until `signal` aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Why the cache is not filled yet, or the last watch failed. */
  problem(): string | undefined;
}

/** How long until a kind that is not served, or not known yet, is asked for again, in milliseconds. */
const rediscoverMs = 30_000;
const retryDiscoveryMs = 2_000;
const discoveryTimeoutMs = 10_000;

/**
 * One dependent resource of all shoots: its kind from discovery, its objects from one watch narrowed to its name over all namespaces.
 * A kind that is not served may appear later, so it is asked for again and again.
 */
export const watchDependent = ({ ref }: DependentResource, deps: WatchDeps): WatchedDependent => {
  const { clock, logger } = deps;
  const key = refKey(ref);
  const late = createLateStore<ScalableObject>();
  let served: ServedKind = { kind: 'unknown' };
  let informer: Informer<ScalableObject> | undefined;
  let lastError: string | undefined;

  const ask = async (signal: AbortSignal): Promise<ServedKind> => {
    const options = { signal, timeoutMs: discoveryTimeoutMs };
    try {
      const found = await resolveKind(deps.client, ref, options);
      if (found.kind === 'not-served' || found.hasScale) return found;
      return { kind: 'not-served', problem: `${ref.kind} of ${ref.apiVersion} has no scale subresource` };
    } catch (error) {
      signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      if (message !== lastError) logger.warn('discovery failed, trying again', { resource: key, problem: message });
      lastError = message;
      return served;
    }
  };

  const discover = async (signal: AbortSignal): Promise<string> => {
    for (;;) {
      const answer = await ask(signal);
      deps.unserved.set(answer.kind === 'not-served' ? 1 : 0, { resource: key });
      if (answer.kind === 'not-served' && served.kind !== 'not-served') {
        logger.error('a dependent resource cannot be scaled', { resource: key, problem: answer.problem });
      }
      served = answer;
      if (answer.kind === 'served') return answer.resource;
      await clock.sleep(answer.kind === 'unknown' ? retryDiscoveryMs : rediscoverMs, signal);
    }
  };

  return {
    key,
    served: () => served,
    store: late.store,
    problem: () => (served.kind === 'not-served' ? served.problem : (informer?.state().problem ?? lastError)),
    run: async (signal) => {
      try {
        const resource = await discover(signal);
        lastError = undefined;
        informer = createInformer<ScalableObject>({
          ...deps,
          path: `${groupVersionPath(ref.apiVersion)}/${resource}`,
          query: { fieldSelector: `metadata.name=${ref.name}` },
          project: (json) => decodeScalable(json, ref.kind),
        });
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      late.connect(informer);
      await informer.run(signal);
    },
  };
};
