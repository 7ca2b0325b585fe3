import type { Entry } from './entry.ts';
import { isInt32, negative } from './kind-rules.ts';
import type { ScalePaths, SimKind } from './kind.ts';
import { type JsonMap, asMap, getPath, withPath } from './object.ts';
import { StatusError, badRequest, invalid } from './status.ts';

const numberAt = (object: unknown, path: readonly string[]): number => {
  const value = getPath(object, path);
  return typeof value === 'number' ? value : 0;
};

/**
 * Returns the `autoscaling/v1` Scale of an object. `spec` is empty when the count is 0, because the field has omitempty in Go: readers
 * must treat absent as 0.
 */
export const scaleOf = (entry: Entry, paths: ScalePaths): JsonMap => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = entry.object.metadata;
  const replicas = numberAt(entry.object, paths.replicas);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(entry.object, paths.statusReplicas) },
  };
};

/** Throws InternalError for a custom object without the replicas field: its Scale cannot be read, although it can be written. */
export const checkScalable = (entry: Entry, paths: ScalePaths): void => {
  if (!entry.kind.custom || getPath(entry.object, paths.replicas) !== undefined) return;
  const message = `the spec replicas field ".${paths.replicas.join('.')}" does not exist`;
  throw new StatusError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
};

const scaleKind = (kind: SimKind): SimKind => ({ ...kind, group: 'autoscaling', kind: 'Scale' });

const checkReplicas = (kind: SimKind, name: string, replicas: unknown): number => {
  if (replicas !== undefined && !isInt32(replicas)) {
    throw badRequest('Scale in version "v1" cannot be handled as a Scale: spec.replicas is not a 32-bit whole number');
  }
  const count = replicas ?? 0;
  if (count >= 0) return count;
  if (!kind.custom) throw invalid(scaleKind(kind), name, [negative('spec.replicas', count)]);
  const field = `.${(kind.scale?.replicas ?? []).join('.')}`;
  const message = `Invalid value: ${count}: should be a non-negative integer`;
  throw invalid(kind, name, [{ reason: 'FieldValueInvalid', message, field }]);
};

/** Returns the object with the replica count of a written Scale, and with the Scale's preconditions in its metadata. */
export const scaledObject = (entry: Entry, paths: ScalePaths, scale: Readonly<JsonMap>): JsonMap => {
  const count = checkReplicas(entry.kind, entry.name, getPath(scale, ['spec', 'replicas']) ?? undefined);
  const { name, namespace, uid, resourceVersion } = asMap(scale.metadata);
  const counted = withPath(entry.object, paths.replicas, count);
  return {
    ...counted,
    metadata: {
      ...entry.object.metadata,
      name,
      namespace: namespace ?? '',
      uid: uid ?? '',
      resourceVersion: resourceVersion ?? '',
    },
  };
};
