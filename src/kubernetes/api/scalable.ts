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

/** A scalable object as a watch of its kind shows it. */
export interface ScalableObject {
  readonly meta: ObjectMeta;
  /** `spec.replicas`; for kinds with paths of their own it means nothing, only their Scale does. */
  readonly specReplicas?: number;
  readonly readyReplicas?: number;
  readonly observedGeneration?: number;
  /** Field manager that set `spec.replicas` last, such as `kubectl-scale`; of an object that is annotated, that set the annotation. */
  readonly replicasManager?: string;
}

/** An annotation that protects while it is set, in place of a count of 0. */
export interface Annotation {
  readonly key: string;
  readonly value: string;
}

/** `scale` subresource (`autoscaling/v1`). */
export interface Scale {
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

/** What a scaling decision is made from, all of one resourceVersion. */
export interface ResourceState {
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Present: the resource is annotated in place of being scaled, and counts as one replica, or as none while the annotation is ours. */
  readonly annotation?: Annotation;
  readonly specReplicas: number;
  /** `status.readyReplicas`, or the Scale's `status.replicas` for kinds without it. */
  readonly readyReplicas: number;
  /** False while the controller of the resource has not yet seen its latest generation. */
  readonly observed: boolean;
  /** Field manager that set `spec.replicas`, or the annotation, last; absent where `managedFields` do not say. */
  readonly replicasManager?: string;
}

/** Where a dependent resource of one shoot is served. */
export interface ScaleTarget {
  readonly ref: ResourceRef;
  /** Plural resource name from discovery, such as `deployments`. */
  readonly resource: string;
  readonly namespace: string;
  /** It is configured to be annotated, and not scaled. */
  readonly annotation?: Annotation | undefined;
}

/** Kinds whose annotations and count change in one request; all others go through their `scale` subresource. */
export const scalesInOneWrite = ({ apiVersion, kind }: ResourceRef): boolean =>
  apiVersion === 'apps/v1' && ['Deployment', 'StatefulSet', 'ReplicaSet'].includes(kind);

/** A resource as it is configured. */
export interface Protected {
  readonly ref: ResourceRef;
  /** Set in place of scaling it. */
  readonly annotation?: Annotation | undefined;
}

/** True if the `scale` subresource is needed to protect it. */
export const usesScale = ({ ref, annotation }: Protected): boolean =>
  annotation === undefined && !scalesInOneWrite(ref);

/** `annotation`: key of the annotation whose writer is wanted, in place of that of the count. */
export const decodeScalable = (json: unknown, path: string, annotation?: string): ScalableObject => {
  const object = decodeObject(json, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const whole = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined);
  const counts = {
    specReplicas: whole(spec.replicas),
    readyReplicas: whole(status.readyReplicas),
    observedGeneration: whole(status.observedGeneration),
  };
  return {
    meta: decodeMeta(object, path),
    ...managerOf(object, { path, annotation }),
    ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== undefined)),
  };
};

interface Owned {
  readonly path: string;
  /** Absent: `spec.replicas`. */
  readonly annotation: string | undefined;
}

/**
 * Who set a field last. Several managers own a field when they agree on its value; an update that changes it takes it from the others
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
 */
const managerOf = (object: JsonObject, { path, annotation }: Owned): { readonly replicasManager?: string } => {
  const metadata = optionalObject(object.metadata, `${path}.metadata`) ?? {};
  let latest: { readonly manager: string; readonly time: string } | undefined;
  for (const item of Array.isArray(metadata.managedFields) ? metadata.managedFields : []) {
    const owner = ownerOfField(item, annotation);
    if (owner !== undefined && (latest === undefined || owner.time >= latest.time)) latest = owner;
  }
  return latest === undefined ? {} : { replicasManager: latest.manager };
};

/** An odd entry says nothing: for the sake of a name in a message no resource must become unreadable. */
const ownerOfField = (
  item: unknown,
  annotation: string | undefined,
): { readonly manager: string; readonly time: string } | undefined => {
  try {
    const entry = decodeObject(item, 'managedFields');
    const fields = optionalObject(entry.fieldsV1, 'fieldsV1') ?? {};
    const manager = optionalString(entry.manager, 'manager') ?? '';
    if (manager === '' || !(annotation === undefined ? ownsReplicas(fields) : ownsAnnotation(fields, annotation))) {
      return undefined;
    }
    // RFC 3339 in UTC to the second, as the API server writes it, compares as text.
    return { manager, time: optionalString(entry.time, 'time') ?? '' };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
};

const ownsReplicas = (fields: JsonObject): boolean =>
  optionalObject(fields['f:spec'], 'f:spec')?.['f:replicas'] !== undefined;

const ownsAnnotation = (fields: JsonObject, key: string): boolean => {
  const metadata = optionalObject(fields['f:metadata'], 'f:metadata') ?? {};
  return optionalObject(metadata['f:annotations'], 'f:annotations')?.[`f:${key}`] !== undefined;
};

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

/** State of an apps/v1 workload, whose object says everything. An absent `spec.replicas` is 1, as the API server defaults it. */
export const workloadState = (object: ScalableObject): ResourceState => ({
  resourceVersion: object.meta.resourceVersion,
  annotations: object.meta.annotations,
  specReplicas: object.specReplicas ?? 1,
  readyReplicas: object.readyReplicas ?? 0,
  observed: (object.observedGeneration ?? 0) >= (object.meta.generation ?? 0),
  ...withManager(object),
});

const withManager = ({ replicasManager }: ScalableObject): Pick<ResourceState, 'replicasManager'> =>
  replicasManager === undefined ? {} : { replicasManager };

/** State of any other scalable kind; `observedGeneration` counts where there is one. */
export const scaledState = (object: ScalableObject, scale: Scale): ResourceState => ({
  resourceVersion: object.meta.resourceVersion,
  annotations: object.meta.annotations,
  specReplicas: scale.specReplicas,
  readyReplicas: object.readyReplicas ?? scale.statusReplicas,
  observed: object.observedGeneration === undefined || object.observedGeneration >= (object.meta.generation ?? 0),
  ...withManager(object),
});

/**
 * True if `a` is at least as new as `b`. resourceVersions of one resource compare as decimal numbers (KEP-5504); others are only
 * ever equal or different, and then the one seen last counts as newer.
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
  decode: (json) => decodeScalable(json, target.ref.kind, target.annotation?.key),
});

export const getScale = (target: ScaleTarget): Call<Scale> => ({
  method: 'GET',
  path: `${objectPath(target)}/scale`,
  decode: decodeScale,
});

/** Annotations to set, or with null to remove. */
export type AnnotationChange = Readonly<Record<string, string | null>>;

/** One merge patch, refused with a Conflict when the object is no longer at `resourceVersion`. */
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
  decode: (json) => decodeScalable(json, target.ref.kind, target.annotation?.key),
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
