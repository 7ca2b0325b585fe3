import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { type ResourceRef, refKey } from '../kubernetes/api/resource-ref.ts';
import {
  type ResourceState,
  type ScalableObject,
  decodeScalable,
  getScale,
  isHeld,
  isMarked,
  scaledState,
  scalesInOneWrite,
  workloadState,
} from '../kubernetes/api/scalable.ts';
import { groupVersionPath, resolveKind } from '../kubernetes/client/index.ts';

/** A resource that meltdown protection has scaled down: with its mark, or at 0 with a stored count alone, as after an operator's `ignore-scaling`. */
export interface HeldResource {
  readonly namespace: string;
  readonly ref: ResourceRef;
  readonly state: ResourceState;
}

/** `name` absent: whatever the name. */
interface Wanted {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name?: string;
}

/** Of a list of all Deployments of a seed with a thousand shoots, which comes in 50 pages. */
const listTimeoutMs = 300_000;

interface Asking {
  readonly client: KubeClient;
  readonly options: CallOptions;
}

interface Place extends Wanted {
  /** Plural. */
  readonly resource: string;
}

const listMarked = async (place: Place, { client, options }: Asking): Promise<readonly ScalableObject[]> => {
  const { apiVersion, resource, name } = place;
  const query = name === undefined ? {} : { query: { fieldSelector: `metadata.name=${name}` } };
  const path = `${groupVersionPath(apiVersion)}/${resource}`;
  const { value } = await client.call(listCall({ path, ...query, decode: decodeScalable }), options);
  return value.filter(({ meta }) => isMarked(meta));
};

const stateOf = async (
  object: ScalableObject,
  { apiVersion, kind, resource }: Place,
  { client, options }: Asking,
): Promise<HeldResource> => {
  const { name, namespace } = object.meta;
  const ref = { apiVersion, kind, name };
  if (scalesInOneWrite(ref)) return { namespace, ref, state: workloadState(object) };
  const { value: scale } = await client.call(getScale({ ref, resource, namespace }), options);
  return { namespace, ref, state: scaledState(object, scale) };
};

const find = async (wanted: Iterable<Wanted>, asking: Asking): Promise<readonly HeldResource[]> => {
  const held: HeldResource[] = [];
  for (const one of wanted) {
    const found = await resolveKind(asking.client, one, asking.options);
    if (found.kind === 'not-served') continue;
    const place = { ...one, resource: found.resource };
    for (const object of await listMarked(place, asking)) held.push(await stateOf(object, place, asking));
  }
  return held.filter(({ state }) => isHeld(state) || state.specReplicas === 0);
};

export interface HeldQuery {
  readonly client: KubeClient;
  readonly refs: readonly ResourceRef[];
  readonly signal: AbortSignal;
}

/** What is held of these resources, in all namespaces. Rejects with an ApiError. */
export const findHeldOf = ({ client, refs, signal }: HeldQuery): Promise<readonly HeldResource[]> => {
  const wanted = new Map(refs.map((ref) => [refKey(ref), ref]));
  return find(wanted.values(), { client, options: { signal, timeoutMs: listTimeoutMs } });
};

/** What is held of whatever name, of the kinds of these resources and of the usual ones: an earlier configuration may have named others. */
export const findHeld = ({ client, refs, signal }: HeldQuery): Promise<readonly HeldResource[]> => {
  const usual = ['Deployment', 'StatefulSet'].map((kind) => ({ apiVersion: 'apps/v1', kind }));
  const kinds = [...usual, ...refs.map(({ apiVersion, kind }) => ({ apiVersion, kind }))];
  const wanted = new Map(kinds.map((kind) => [`${kind.apiVersion}/${kind.kind}`, kind]));
  return find(wanted.values(), { client, options: { signal, timeoutMs: listTimeoutMs } });
};

/** `Deployment shoot--a--b/kube-controller-manager`. */
export const heldName = ({ namespace, ref: { kind, name } }: HeldResource): string => `${kind} ${namespace}/${name}`;

export const heldKey = ({ namespace, ref }: HeldResource): string => `${namespace}/${refKey(ref)}`;
