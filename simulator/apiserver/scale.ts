import type { Entry } from './entry.ts';
import type { ScalePaths } from './kind.ts';
import { type JsonMap, asMap, getPath, withPath } from './object.ts';
import { StatusError } from './status.ts';

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

/** Returns the object with the replica count of a written Scale, and with the Scale's precondition in its metadata. */
export const scaledObject = (entry: Entry, paths: ScalePaths, scale: Readonly<JsonMap>): JsonMap => {
  const count = getPath(scale, ['spec', 'replicas']) ?? 0;
  const { resourceVersion = '' } = asMap(scale.metadata);
  return {
    ...withPath(entry.object, paths.replicas, count),
    metadata: { ...entry.object.metadata, resourceVersion },
  };
};
