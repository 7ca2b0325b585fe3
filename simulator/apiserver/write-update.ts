import type { Entry } from './entry.ts';
import { apiVersionOf } from './kind.ts';
import { metadataIn, nextGeneration, tidyMetadata, tidyStatus } from './metadata.ts';
import { type JsonMap, type SimMeta, type SimObject, equalJson, without } from './object.ts';
import { conflict } from './status.ts';

/** Part of an object that a write may change. */
export type WriteTarget = 'object' | 'status' | 'scale';

export interface Update {
  readonly target: WriteTarget;
  /** The whole object as the client wants it. */
  readonly wanted: Readonly<JsonMap>;
}

type Unversioned = Readonly<JsonMap> & { readonly metadata: SimMeta };

const checkVersion = ({ kind, name, object }: Entry, { wanted }: Update): void => {
  const { resourceVersion } = metadataIn(wanted);
  if (resourceVersion !== '' && resourceVersion !== object.metadata.resourceVersion) throw conflict(kind, name);
};

const systemFields = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'resourceVersion',
  'managedFields',
];

/** Returns the client's metadata with the stored values of the fields that the server owns. */
const mergeMetadata = (entry: Entry, update: Update): JsonMap => {
  const old: JsonMap = entry.object.metadata;
  if (update.target === 'status') return old;
  const wanted = without(metadataIn(update.wanted), ...systemFields, ...(entry.namespace === '' ? ['namespace'] : []));
  const kept: JsonMap = {};
  for (const key of systemFields) if (old[key] !== undefined) kept[key] = old[key];
  return { ...wanted, ...(entry.namespace === '' ? {} : { namespace: entry.namespace }), ...kept };
};

const mergeBody = (entry: Entry, update: Update): JsonMap => {
  const { kind, object } = entry;
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const status = (source: Readonly<JsonMap>): JsonMap => (source.status === undefined ? {} : { status: source.status });
  if (update.target === 'status') return { ...without(object, 'status'), ...type, ...status(update.wanted) };
  if (!kind.status) return { ...update.wanted, ...type };
  return { ...without(update.wanted, 'status'), ...type, ...status(object) };
};

/**
 * Returns the object after `update` of `entry`, or undefined if nothing changes. Throws a Conflict StatusError for a stale resourceVersion.
 * The rules are those of k8s.io/apiserver/pkg/registry/rest/update.go.
 */
export const updatedObject = (entry: Entry, update: Update): Unversioned | undefined => {
  checkVersion(entry, update);
  const { kind, object } = entry;
  const metadata = tidyMetadata(mergeMetadata(entry, update));
  const merged = tidyStatus(kind, { ...mergeBody(entry, update), metadata });
  const result = { ...(kind.defaults?.(merged) ?? merged) } as Unversioned;
  if (equalJson(object, result)) return undefined;
  const { generation } =
    update.target === 'status' ? object.metadata : { generation: nextGeneration(kind, object, result) };
  return generation === undefined ? result : { ...result, metadata: { ...result.metadata, generation } };
};

/** True if an object is deleted and no finalizer or grace period holds it back any more, so that the update removes it. */
export const isReleased = (object: SimObject | Unversioned): boolean => {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
};
