import type { Call } from './call.ts';
import {
  DecodeError,
  type JsonObject,
  type ObjectMeta,
  decodeMeta,
  decodeObject,
  optionalInteger,
  optionalObject,
  optionalString,
} from './decode.ts';
import type { ResourceRef } from './resource-ref.ts';
import { resourcePath } from './resource-path.ts';

/** A scalable object as a watch of its kind returns it. */
export interface ScalableObject {
  readonly meta: ObjectMeta;
  /** `spec.replicas`. Meaningless for kinds whose `scale` subresource maps to another field: only their Scale counts. */
  readonly specReplicas?: number;
  readonly readyReplicas?: number;
  readonly observedGeneration?: number;
  /** Field manager that last set `spec.replicas`, such as `kubectl-scale`. */
  readonly replicasManager?: string;
}

/** `scale` subresource (`autoscaling/v1`). */
export interface Scale {
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

/** Input of a scaling decision, all from one resourceVersion. */
export interface ResourceState {
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly specReplicas: number;
  /** `status.readyReplicas`, or the Scale's `status.replicas` for kinds without it. */
  readonly readyReplicas: number;
  /** True if the controller of the resource has seen its latest generation. */
  readonly observed: boolean;
  /** Field manager that last set `spec.replicas`; absent if `managedFields` has none. */
  readonly replicasManager?: string;
}

/** Location of a dependent resource of one shoot in the API. */
export interface ScaleTarget {
  readonly ref: ResourceRef;
  /** Plural resource name from discovery, such as `deployments`. */
  readonly resource: string;
  readonly namespace: string;
}

/** Returns true for kinds whose annotations and replicas we change in one request; all others use their `scale` subresource. */
export const isPatchableWorkload = ({ apiVersion, kind }: ResourceRef): boolean =>
  apiVersion === 'apps/v1' && ['Deployment', 'StatefulSet', 'ReplicaSet'].includes(kind);

export const decodeScalable = (json: unknown, path: string): ScalableObject => {
  const object = decodeObject(json, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const whole = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);
  return {
    meta: decodeMeta(object, path),
    specReplicas: whole(spec.replicas),
    readyReplicas: whole(status.readyReplicas),
    observedGeneration: whole(status.observedGeneration),
    replicasManager: managerOf(object, path),
  };
};

/**
 * Returns the manager that set `spec.replicas` last. Several managers own a field if they agree on its value; an update that changes it takes it from the others
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
 */
const managerOf = (object: JsonObject, path: string): string | undefined => {
  const metadata = optionalObject(object.metadata, `${path}.metadata`) ?? {};
  let latest: { readonly manager: string; readonly time: string } | undefined;
  for (const item of Array.isArray(metadata.managedFields) ? metadata.managedFields : []) {
    const owner = ownerOfReplicas(item);
    if (owner !== undefined && (latest === undefined || owner.time >= latest.time)) latest = owner;
  }
  return latest?.manager;
};

/** Ignores a malformed entry: it must not make a resource undecodable. */
const ownerOfReplicas = (item: unknown): { readonly manager: string; readonly time: string } | undefined => {
  try {
    const entry = decodeObject(item, 'managedFields');
    const fields = optionalObject(entry.fieldsV1, 'fieldsV1') ?? {};
    const manager = optionalString(entry.manager, 'manager') ?? '';
    if (manager === '' || !ownsReplicas(fields)) return undefined;
    // The API server writes RFC 3339 in UTC to the second, which compares as text.
    return { manager, time: optionalString(entry.time, 'time') ?? '' };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
};

const ownsReplicas = (fields: JsonObject): boolean =>
  optionalObject(fields['f:spec'], 'f:spec')?.['f:replicas'] !== undefined;

const decodeScale = (json: unknown): Scale => {
  const object = decodeObject(json, 'scale');
  const spec = optionalObject(object.spec, 'scale.spec') ?? {};
  const status = optionalObject(object.status, 'scale.status') ?? {};
  const meta = decodeObject(object.metadata, 'scale.metadata');
  return {
    resourceVersion: optionalString(meta.resourceVersion, 'scale.metadata.resourceVersion') ?? '',
    specReplicas: optionalInteger(spec.replicas, 'scale.spec.replicas') ?? 0,
    statusReplicas: optionalInteger(status.replicas, 'scale.status.replicas') ?? 0,
  };
};

/** Returns the state of an apps/v1 workload, which its object holds completely. An absent `spec.replicas` is 1, the API server's default. */
export const workloadState = (object: ScalableObject): ResourceState => ({
  resourceVersion: object.meta.resourceVersion,
  annotations: object.meta.annotations,
  specReplicas: object.specReplicas ?? 1,
  readyReplicas: object.readyReplicas ?? 0,
  observed: (object.observedGeneration ?? 0) >= (object.meta.generation ?? 0),
  replicasManager: object.replicasManager,
});

/** Returns the state of a resource from its object alone; undefined if the count is only in its Scale. */
export const stateInObject = (object: ScalableObject, ref: ResourceRef): ResourceState | undefined =>
  isPatchableWorkload(ref) ? workloadState(object) : undefined;

/** Returns the state of any other scalable kind; `observedGeneration` counts only if it is present. */
export const scaledState = (object: ScalableObject, scale: Scale): ResourceState => ({
  resourceVersion: object.meta.resourceVersion,
  annotations: object.meta.annotations,
  specReplicas: scale.specReplicas,
  readyReplicas: object.readyReplicas ?? scale.statusReplicas,
  observed: object.observedGeneration === undefined || object.observedGeneration >= (object.meta.generation ?? 0),
  replicasManager: object.replicasManager,
});

/**
 * Returns true if `a` is at least as new as `b`. resourceVersions of one resource compare as decimal numbers (KEP-5504). If either is not
 * a number, they have no order, and the result is true: the one seen last counts as newer.
 */
export const isAtLeast = (a: string, b: string): boolean => {
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return true;
  return BigInt(a) >= BigInt(b);
};

const objectPath = ({ ref: { apiVersion, name }, resource, namespace }: ScaleTarget): string =>
  resourcePath({ apiVersion, resource, namespace, name });

export const getScalable = (target: ScaleTarget): Call<ScalableObject> => ({
  method: 'GET',
  path: objectPath(target),
  decode: (json) => decodeScalable(json, target.ref.kind),
});

export const getScale = (target: ScaleTarget): Call<Scale> => ({
  method: 'GET',
  path: `${objectPath(target)}/scale`,
  decode: decodeScale,
});

/** Annotations to set; null removes one. */
export type AnnotationChange = Readonly<Record<string, string | null>>;

/** Changes the object with one merge patch; the response is a Conflict if the object is no longer at `resourceVersion`. */
export const patchScalable = (
  target: ScaleTarget,
  change: { readonly resourceVersion: string; readonly annotations: AnnotationChange; readonly replicas?: number },
): Call<ScalableObject> => ({
  method: 'PATCH',
  path: objectPath(target),
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: {
    metadata: { resourceVersion: change.resourceVersion, annotations: change.annotations },
    ...(change.replicas === undefined ? {} : { spec: { replicas: change.replicas } }),
  },
  decode: (json) => decodeScalable(json, target.ref.kind),
});

export const patchScale = (
  target: ScaleTarget,
  change: { readonly resourceVersion: string; readonly replicas: number },
): Call<Scale> => ({
  method: 'PATCH',
  path: `${objectPath(target)}/scale`,
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: { metadata: { resourceVersion: change.resourceVersion }, spec: { replicas: change.replicas } },
  decode: decodeScale,
});
