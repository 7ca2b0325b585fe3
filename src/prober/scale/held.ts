import type { CallOptions, KubeClient } from '../../kubernetes/api/kube.ts';
import { listCall } from '../../kubernetes/api/list-call.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  type ResourceState,
  type ScalableObject,
  decodeScalable,
  getScale,
  scaledState,
  stateInObject,
} from '../../kubernetes/api/scalable.ts';
import { resourcePath } from '../../kubernetes/api/resource-path.ts';
import { hasMark, hasOurAnnotations, hasStoredReplicas } from '../../annotations/scaling-annotations.ts';
import { resolveKind } from '../../kubernetes/client/index.ts';
import { type RefTemplate, isTemplate } from '../config/ref-template.ts';
import { clusterOfHeld, isConfigured } from './owner.ts';

/**
 * A resource that meltdown protection has scaled down. Either it has our mark, or it has none, as after an operator's `ignore-scaling`, but is at 0 and its
 * former count is stored.
 */
export interface HeldResource {
  /** Name of the cluster for which it is held. */
  readonly cluster: string;
  readonly namespace: string;
  readonly ref: ResourceRef;
  readonly state: ResourceState;
}

/** Timeout of a list of all Deployments of a seed with a thousand shoots, which comes in 50 pages. */
const listTimeoutMs = 300_000;

interface CallDeps {
  readonly client: KubeClient;
  readonly options: CallOptions;
}

interface KindPlace extends RefTemplate {
  /** Plural name of the kind, as in paths. */
  readonly resource: string;
}

const listAnnotated = async (place: KindPlace, { client, options }: CallDeps): Promise<readonly ScalableObject[]> => {
  const { apiVersion, resource, name } = place;
  const query = isTemplate(name) ? {} : { query: { fieldSelector: `metadata.name=${name}` } };
  const path = resourcePath({ apiVersion, resource });
  const { value } = await client.call(listCall({ path, ...query, decode: decodeScalable }), options);
  return value.filter(({ meta }) => hasOurAnnotations(meta) && isConfigured(place, meta));
};

const stateOf = async (
  object: ScalableObject,
  { apiVersion, kind, resource }: KindPlace,
  { client, options }: CallDeps,
): Promise<HeldResource> => {
  const { name, namespace } = object.meta;
  const ref = { apiVersion, kind, name };
  const state = stateInObject(object, ref);
  const cluster = clusterOfHeld(object.meta);
  if (state !== undefined) return { cluster, namespace, ref, state };
  const { value: scale } = await client.call(getScale({ ref, resource, namespace }), options);
  return { cluster, namespace, ref, state: scaledState(object, scale) };
};

/** False for a resource that the Go program has restored: it leaves the note, which it does not know. */
const isHeld = ({ state }: HeldResource): boolean =>
  hasMark(state) || (state.specReplicas === 0 && hasStoredReplicas(state));

export interface HeldQuery {
  readonly client: KubeClient;
  readonly refs: readonly RefTemplate[];
  readonly signal: AbortSignal;
}

/** Finds the held ones of these resources, in all namespaces. Rejects with an ApiError. */
export const findHeldOf = async ({ client, refs, signal }: HeldQuery): Promise<readonly HeldResource[]> => {
  const deps = { client, options: { signal, timeoutMs: listTimeoutMs } };
  const wanted = new Map(refs.map((ref) => [refKey(ref), ref]));
  const found: HeldResource[] = [];
  for (const ref of wanted.values()) {
    const kind = await resolveKind(client, ref, deps.options);
    if (kind.kind === 'not-served') continue;
    const place = { ...ref, resource: kind.resource };
    for (const object of await listAnnotated(place, deps)) found.push(await stateOf(object, place, deps));
  }
  return found.filter(isHeld);
};

/** Such as `Deployment shoot--a--b/kube-controller-manager`. */
export const heldName = ({ namespace, ref: { kind, name } }: HeldResource): string => `${kind} ${namespace}/${name}`;

export const heldKey = ({ namespace, ref }: HeldResource): string => `${namespace}/${refKey(ref)}`;
