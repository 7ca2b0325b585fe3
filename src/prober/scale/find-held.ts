import { hasActive, hasOurAnnotations, hasStoredReplicas } from '../../annotations/scaling-annotations.ts';
import type { CallOptions, Kube, KubeClient } from '../../kubernetes/api/kube.ts';
import { listBounds, listCall } from '../../kubernetes/api/list-call.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../../kubernetes/api/resource-path.ts';
import { decodeScalable, getScale, isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import { createKubeClient, resolveKind } from '../../kubernetes/client/index.ts';
import { flat, integer, stringMap, text } from '../../kubernetes/protobuf/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { type RefTemplate, isTemplate } from '../config/ref-template.ts';
import type { ProberSettings } from '../config/settings.ts';
import { type HeldObject, clusterOfHeld, configuredAs, isConfigured, isHeld, withUnconfigured } from './held.ts';

// Finds what is held by lists, for `dwd status` and `dwd release`: the prober itself has watches.

export interface HeldResource extends HeldObject {
  /** Name of the cluster for which it is held. */
  readonly cluster: string;
}

/** The parts of a resource that show if it is held. */
interface SeenResource {
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Absent: 1 for kinds that `isPatchableWorkload`; for others only the Scale has the count. */
  readonly specReplicas?: number;
}

const mebibyte = 1024 * 1024;

/** Options of a list of some thousand resources or namespaces: one page from the API server's watch cache. State from a second ago is good enough. */
const watchCacheListOptions = {
  query: { resourceVersion: '0' },
  pageSize: 'none',
  bounds: { ...listBounds, jsonBytes: 128 * mebibyte, protobufBytes: 64 * mebibyte, pageItems: 20_000 },
} as const;

/**
 * Projection of Deployments, StatefulSets and ReplicaSets. Field numbers: k8s.io/api `apps/v1/generated.proto`, k8s.io/apimachinery
 * `pkg/apis/meta/v1/generated.proto`.
 */
const workload = {
  apiVersion: 'apps/v1',
  fields: {
    1: flat({ 1: text('name'), 3: text('namespace'), 12: stringMap('annotations') }),
    2: flat({ 1: integer('specReplicas') }),
  },
  empty: (): SeenResource => ({ name: '', namespace: '', annotations: {} }),
  project: (draft: unknown) => draft as SeenResource,
} as const;

export interface HeldQuery {
  readonly client: KubeClient;
  readonly options: CallOptions;
  /** True for a list from the watch cache, to be shown. */
  readonly isCached?: boolean;
}

/** A template may match all objects of a kind. That list comes in pages, which the watch cache does not serve. */
const listOptionsOf = (ref: RefTemplate, isCached: boolean) => {
  if (isTemplate(ref.name)) return {};
  const fieldSelector = `metadata.name=${ref.name}`;
  if (!isCached) return { query: { fieldSelector } };
  return { ...watchCacheListOptions, query: { ...watchCacheListOptions.query, fieldSelector } };
};

const listNamed = (ref: RefTemplate, resource: string, isCached: boolean) =>
  listCall<SeenResource>({
    ...listOptionsOf(ref, isCached),
    path: resourcePath({ apiVersion: ref.apiVersion, resource }),
    kind: `${ref.kind}List`,
    decode: (json, path) => {
      const { meta, specReplicas } = decodeScalable(json, path);
      const { name, namespace, annotations } = meta;
      return { name, namespace, annotations, specReplicas };
    },
    protobuf: isPatchableWorkload(ref) ? workload : undefined,
  });

/** Returns those of one dependent resource in all namespaces that have an annotation of ours; none if its kind is not served. Rejects with an ApiError. */
const findAnnotated = async (ref: RefTemplate, query: HeldQuery): Promise<readonly HeldResource[]> => {
  const { client, options, isCached = false } = query;
  const kind = await resolveKind(client, ref, options);
  if (kind.kind === 'not-served') return [];
  const { resource } = kind;
  const { value: listed } = await client.call(listNamed(ref, resource, isCached), options);
  const found: HeldResource[] = [];
  for (const seen of listed) {
    if (!hasOurAnnotations(seen) || !isConfigured(ref, seen)) continue;
    const { name, namespace, annotations } = seen;
    const held = { apiVersion: ref.apiVersion, kind: ref.kind, name };
    let specReplicas = isPatchableWorkload(ref) ? (seen.specReplicas ?? 1) : undefined;
    // The count of others does not matter: they are not held.
    const mayBeHeld = hasActive(seen) || hasStoredReplicas(seen);
    if (specReplicas === undefined && mayBeHeld && !(isCached && hasActive(seen))) {
      const { value: scale } = await client.call(getScale({ ref: held, resource, namespace }), options);
      specReplicas = scale.specReplicas;
    }
    found.push({ cluster: clusterOfHeld(seen), namespace, ref: held, annotations, specReplicas });
  }
  return found;
};

/** Timeout of a list of all Deployments of a seed with a thousand shoots, which comes in 50 pages. */
const listTimeoutMs = 300_000;

const onlyHeld = (found: readonly HeldResource[]): readonly HeldResource[] =>
  found.filter((one) => isHeld(one, one.specReplicas));

/** Returns the held ones of one dependent resource, as `findAnnotated` does. */
export const findHeld = async (ref: RefTemplate, query: HeldQuery): Promise<readonly HeldResource[]> =>
  onlyHeld(await findAnnotated(ref, query));

interface Searching {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
}

const findAllAnnotated = async (
  { dependentResources }: Pick<ProberSettings, 'dependentResources'>,
  { client, signal }: Searching,
): Promise<readonly HeldResource[]> => {
  const found: HeldResource[] = [];
  for (const ref of new Map(dependentResources.map((one) => [refKey(one.ref), one.ref])).values()) {
    found.push(...(await findAnnotated(ref, { client, options: { signal, timeoutMs: listTimeoutMs } })));
  }
  return found;
};

/** Finds the held ones of the resources that the settings name, in all namespaces. Rejects with an ApiError. */
export const findAllHeld = async (settings: ProberSettings, searching: Searching): Promise<readonly HeldResource[]> =>
  onlyHeld(await findAllAnnotated(settings, searching));

export interface ListHeldOptions {
  /** Settings of the prober whose resources are released. They determine the order. */
  readonly settings: ProberSettings;
  readonly seed: Kube;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Held resources in the order of restoration, and settings that name all of them. */
export interface ListedHeld {
  readonly held: readonly HeldResource[];
  readonly settings: ProberSettings;
}

/**
 * Lists all held resources that the settings name, and after them those that only their annotations `held` name: an earlier configuration named them. Rejects with
 * an ApiError.
 */
export const listHeld = async ({ settings, seed, clock, signal }: ListHeldOptions): Promise<ListedHeld> => {
  const searching = { client: createKubeClient({ kube: seed, clock }), signal };
  const named = await findAllAnnotated(settings, searching);
  const all = withUnconfigured(settings, named);
  const isMore = all.dependentResources.length > settings.dependentResources.length;
  const found = isMore ? await findAllAnnotated(all, searching) : named;
  return { held: inOrder(onlyHeld(found), all), settings: all };
};

/** Sorts resources in the order of restoration: cluster by cluster, each by its levels, resources that no configuration names last. */
export const inOrder = (held: readonly HeldResource[], settings: ProberSettings): readonly HeldResource[] => {
  const levels = new Map(
    held.map((one) => [one, configuredAs(settings, one)?.scaleUp.level ?? Number.MAX_SAFE_INTEGER]),
  );
  return held.toSorted(
    (a, b) => a.cluster.localeCompare(b.cluster, 'en') || (levels.get(a) ?? 0) - (levels.get(b) ?? 0),
  );
};

/** Such as `Deployment shoot--a--b/kube-controller-manager`. */
export const heldName = ({ namespace, ref: { kind, name } }: HeldResource): string => `${kind} ${namespace}/${name}`;
