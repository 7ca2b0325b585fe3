import type { CallOptions, KubeClient } from '../../kubernetes/api/kube.ts';
import type { ObjectMeta } from '../../kubernetes/api/decode.ts';
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
import { hasOurAnnotations, hasStoredReplicas, hasMark, hasMarkOrNote } from '../../gardener/scaling-annotations.ts';
import { resolveKind } from '../../kubernetes/client/index.ts';
import { type RefTemplate, isTemplate, placeholderValue } from '../ref-template.ts';

/**
 * A resource that meltdown protection has scaled down. Either it has our mark, or it has none, as after an operator's `ignore-scaling`, but is at 0 and its
 * former count is stored.
 */
export interface HeldResource {
  readonly namespace: string;
  readonly ref: ResourceRef;
  readonly state: ResourceState;
}

/** The resources to find. `name` may be a template; if it is absent, every name matches. */
interface Wanted extends Pick<RefTemplate, 'apiVersion' | 'kind' | 'namespace'> {
  readonly name?: string;
}

export const isWanted = ({ name, namespace }: Wanted, meta: Pick<ObjectMeta, 'name' | 'namespace'>): boolean =>
  (name === undefined || placeholderValue(name, meta.name) !== undefined) &&
  (namespace === undefined || placeholderValue(namespace, meta.namespace) !== undefined);

/** Timeout of a list of all Deployments of a seed with a thousand shoots, which comes in 50 pages. */
const listTimeoutMs = 300_000;

interface CallDeps {
  readonly client: KubeClient;
  readonly options: CallOptions;
}

interface KindPlace extends Wanted {
  /** Plural name of the kind, as in paths. */
  readonly resource: string;
}

const listAnnotated = async (place: KindPlace, { client, options }: CallDeps): Promise<readonly ScalableObject[]> => {
  const { apiVersion, resource, name } = place;
  const query = name === undefined || isTemplate(name) ? {} : { query: { fieldSelector: `metadata.name=${name}` } };
  const path = resourcePath({ apiVersion, resource });
  const { value } = await client.call(listCall({ path, ...query, decode: decodeScalable }), options);
  return value.filter(({ meta }) => hasOurAnnotations(meta) && isWanted(place, meta));
};

const stateOf = async (
  object: ScalableObject,
  { apiVersion, kind, resource }: KindPlace,
  { client, options }: CallDeps,
): Promise<HeldResource> => {
  const { name, namespace } = object.meta;
  const ref = { apiVersion, kind, name };
  const state = stateInObject(object, ref);
  if (state !== undefined) return { namespace, ref, state };
  const { value: scale } = await client.call(getScale({ ref, resource, namespace }), options);
  return { namespace, ref, state: scaledState(object, scale) };
};

const find = async (wanted: Iterable<Wanted>, deps: CallDeps): Promise<readonly HeldResource[]> => {
  const held: HeldResource[] = [];
  for (const one of wanted) {
    const found = await resolveKind(deps.client, one, deps.options);
    if (found.kind === 'not-served') continue;
    const place = { ...one, resource: found.resource };
    for (const object of await listAnnotated(place, deps)) held.push(await stateOf(object, place, deps));
  }
  return held.filter(({ state }) => hasMarkOrNote(state) || state.specReplicas === 0);
};

/** True if the resource is not held: the Go program has restored it and left the note, which it does not know. */
export const isLeftover = ({ state }: HeldResource): boolean =>
  !hasMark(state) && !(state.specReplicas === 0 && hasStoredReplicas(state));

export interface HeldQuery {
  readonly client: KubeClient;
  readonly refs: readonly RefTemplate[];
  readonly signal: AbortSignal;
}

/** Finds the held ones of these resources, in all namespaces. Rejects with an ApiError. */
export const findHeldOf = async ({ client, refs, signal }: HeldQuery): Promise<readonly HeldResource[]> => {
  const wanted = new Map(refs.map((ref) => [refKey(ref), ref]));
  const found = await find(wanted.values(), { client, options: { signal, timeoutMs: listTimeoutMs } });
  return found.filter((resource) => !isLeftover(resource));
};

/**
 * Finds held resources and leftovers (`isLeftover`) of any name, among the kinds of these resources and the usual kinds: an earlier configuration may have
 * named other resources.
 */
export const findHeldAndLeftovers = ({ client, refs, signal }: HeldQuery): Promise<readonly HeldResource[]> => {
  const usual = ['Deployment', 'StatefulSet'].map((kind) => ({ apiVersion: 'apps/v1', kind }));
  const kinds = [...usual, ...refs.map(({ apiVersion, kind }) => ({ apiVersion, kind }))];
  const wanted = new Map(kinds.map((kind) => [`${kind.apiVersion}/${kind.kind}`, kind]));
  return find(wanted.values(), { client, options: { signal, timeoutMs: listTimeoutMs } });
};

/** Such as `Deployment shoot--a--b/kube-controller-manager`. */
export const heldName = ({ namespace, ref: { kind, name } }: HeldResource): string => `${kind} ${namespace}/${name}`;

export const heldKey = ({ namespace, ref }: HeldResource): string => `${namespace}/${refKey(ref)}`;
