import { ApiError } from '../api/errors.ts';
import type { Kube, KubeClient } from '../api/kube.ts';
import { resourcePath } from '../api/resource-path.ts';
import type { ResourceRef } from '../api/resource-ref.ts';
import type { ScalableObject } from '../api/scalable.ts';
import { resolveKind } from '../client/index.ts';
import { type InformerDeps, createInformer } from './informer.ts';
import type { Project } from './object-cache.ts';
import type { Store } from './store.ts';

/** Result of discovery for the kind of a dependent resource. */
export type ServedKind =
  | { readonly kind: 'served' /** Plural, such as `deployments`. */; readonly resource: string }
  | { readonly kind: 'not-served'; readonly problem: string }
  /** Discovery has not succeeded yet. */
  | { readonly kind: 'unknown' };

/** A configured dependent resource, watched by its name in all namespaces. */
export interface DependentSource {
  served(): ServedKind;
  readonly store: Store<ScalableObject>;
}

/** Sources by `refKey`. */
export type DependentSources = ReadonlyMap<string, DependentSource>;

export interface WatchKindDeps extends InformerDeps {
  readonly kube: Kube;
  readonly client: KubeClient;
}

export interface WatchKindOptions<T> {
  readonly ref: ResourceRef;
  /** True if all objects of the kind are watched. Default: only those with the name of `ref`. */
  readonly ofAnyName?: boolean;
  /** Name of the resource in logs. */
  readonly key: string;
  /** Converts each object to the form that the store keeps. */
  readonly project: Project<T>;
  /** Called with each result of discovery until the kind is served, and the one before it. */
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
}

const discoveryTimeoutMs = 10_000;

/**
 * Discovers a kind and watches its objects, of one name or (`ofAnyName`) all, in all namespaces. Discovery is repeated while the kind is not served,
 * because it may be added later. A kind that was served stays so: its objects may be out of reach only while the API server starts.
 */
export const watchKind = <T>(options: WatchKindOptions<T>, deps: WatchKindDeps): KindWatch<T> => {
  const { ref, key, project, onServed, ofAnyName = false } = options;
  let served: ServedKind = { kind: 'unknown' };

  const discover = async (signal: AbortSignal): Promise<Exclude<ServedKind, { kind: 'unknown' }>> => {
    const found = await resolveKind(deps.client, ref, { signal, timeoutMs: discoveryTimeoutMs });
    if (found.kind === 'not-served' || found.hasScale) return found;
    return { kind: 'not-served', problem: `${ref.kind} of ${ref.apiVersion} has no scale subresource` };
  };

  const find = async (signal: AbortSignal): Promise<string> => {
    const result = await discover(signal);
    if (served.kind !== 'served') {
      onServed(result, served);
      served = result;
    }
    if (result.kind === 'not-served') throw new ApiError({ code: 'NotFound', message: result.problem });
    return resourcePath({ apiVersion: ref.apiVersion, resource: result.resource });
  };

  const informer = createInformer<T>({
    ...deps,
    name: key,
    path: find,
    query: ofAnyName ? {} : { fieldSelector: `metadata.name=${ref.name}` },
    project,
  });
  return {
    served: () => served,
    store: informer,
    run: (signal) => informer.run(signal),
    interruptedMs: () => informer.interruptedMs(),
    problem: () => informer.state().problem,
  };
};
