import type { SimKind } from './kind.ts';
import { type JsonMap, type SimObject, asMap, equalJson, isMap, without } from './object.ts';

const droppedWhenEmpty = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (Array.isArray(value) ? value.length === 0 : isMap(value) && !hasKeys(value));

const hasKeys = (map: JsonMap): boolean => Object.keys(map).length > 0;

/** Drops the fields that Go's omitempty drops. */
export const tidyMetadata = (meta: Readonly<JsonMap>): JsonMap =>
  without(meta, 'selfLink', ...droppedWhenEmpty.filter((key) => isEmpty(meta[key])));

/**
 * Returns the metadata of a new state with `managedFields`: those that an actor has written, or one entry for the field whose changes the kind stamps. As in
 * k8s.io/apimachinery `pkg/util/managedfields`, its time is that of the server at the latest change of the field's value. It stays if `now` is undefined.
 */
export const stampedMetadata = (
  kind: SimKind,
  {
    previous,
    next,
    now,
  }: { readonly previous?: SimObject; readonly next: Readonly<JsonMap>; readonly now: string | undefined },
): JsonMap => {
  if (kind.stampedField === undefined) return asMap(next.metadata);
  const { managedFields: _, ...metadata } = asMap(next.metadata);
  const value = asMap(next.spec)[kind.stampedField];
  const before = asMap(previous?.spec)[kind.stampedField];
  if (value === undefined) return metadata;
  if (value === before || now === undefined) return { ...metadata, managedFields: previous?.metadata.managedFields };
  const fieldsV1 = { 'f:spec': { [`f:${kind.stampedField}`]: {} } };
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const entry = { manager: 'kubelet', operation: 'Update', apiVersion, time: now, fieldsType: 'FieldsV1', fieldsV1 };
  return { ...metadata, managedFields: [entry] };
};

/** Drops the fields of `status` that the kind leaves out when they are 0. */
export const tidyStatus = (kind: SimKind, object: JsonMap): JsonMap => {
  const status = object.status;
  if (kind.omitZero.length === 0 || !isMap(status)) return object;
  return { ...object, status: without(status, ...kind.omitZero.filter((key) => status[key] === 0)) };
};

/** Returns the parts of an object whose changes increase its generation. */
const counted = (kind: SimKind, object: Readonly<JsonMap>): unknown => {
  const metadata = asMap(object.metadata);
  const parts = kind.countedMetadata.map((key) => metadata[key]);
  if (!kind.custom && kind.status) return [...parts, object.spec];
  return [...parts, without(object, 'metadata', ...(kind.status ? ['status'] : []))];
};

/**
 * Returns the generation after a change from `old` to `next`. Not for writes to the status subresource, which never count. Built-in kinds
 * count changes of the spec; custom kinds count changes outside the metadata and outside the status if that is a subresource.
 */
export const nextGeneration = (kind: SimKind, old: SimObject, next: Readonly<JsonMap>): number | undefined => {
  const current = old.metadata.generation;
  if (!kind.generation || current === undefined) return current;
  return equalJson(counted(kind, old), counted(kind, next)) ? current : current + 1;
};

/** Reads the metadata in a request's body: a name or resourceVersion that is missing or of another type becomes empty, all else stays as sent. */
export const metadataIn = (
  object: Readonly<JsonMap>,
): JsonMap & { readonly name: string; readonly resourceVersion: string } => {
  const meta = asMap(object.metadata);
  const text = (key: string): string => (typeof meta[key] === 'string' ? meta[key] : '');
  return { ...meta, name: text('name'), resourceVersion: text('resourceVersion') };
};
