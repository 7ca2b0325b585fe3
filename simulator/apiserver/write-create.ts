import { type SimKind, apiVersionOf } from './kind.ts';
import { simKinds } from './kinds.ts';
import { metadataIn, tidyMetadata, tidyStatus } from './metadata.ts';
import { type JsonMap, type SimMeta, without } from './object.ts';
import type { ServerOrigin } from './origin.ts';
import { alreadyExists, notFound } from './status.ts';
import type { Storage } from './storage.ts';

export interface Creation {
  readonly kind: SimKind;
  /** Namespace in the path; empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly wanted: Readonly<JsonMap>;
}

const checkNamespace = (storage: Storage, creation: Creation): void => {
  const { kind, namespace } = creation;
  if (!kind.namespaced) return;
  const found = storage.collection(simKinds.Namespace).get('', namespace);
  if (found === undefined) throw notFound(simKinds.Namespace, namespace);
};

/** Builds a new object with all that the server adds: identity, generation, defaults. Drops the status if it is a subresource. */
export const newObject = (
  creation: Creation,
  origin: ServerOrigin,
): Readonly<JsonMap> & { readonly metadata: SimMeta } => {
  const { kind, namespace, wanted } = creation;
  const { name, ...meta } = metadataIn(wanted);
  const prefix = typeof meta.generateName === 'string' ? meta.generateName : '';
  const metadata = tidyMetadata({
    name: name === '' && prefix !== '' ? origin.nameFrom(prefix) : name,
    ...without(
      meta,
      'managedFields',
      'namespace',
      'resourceVersion',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'generation',
    ),
    ...(namespace === '' ? {} : { namespace }),
    uid: origin.uid(),
    ...(kind.generation ? { generation: 1 } : {}),
    creationTimestamp: origin.timestamp(),
  });
  const kept = kind.status ? without(wanted, 'status') : { ...wanted };
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...without(kept, 'apiVersion', 'kind'), metadata };
  const defaulted = tidyStatus(kind, kind.defaults?.(object) ?? object);
  return defaulted as unknown as Readonly<JsonMap> & { readonly metadata: SimMeta };
};

/** Builds the object of a POST. Throws a StatusError: NotFound (the namespace), AlreadyExists. */
export const createdObject = (
  storage: Storage,
  creation: Creation,
  origin: ServerOrigin,
): Readonly<JsonMap> & { readonly metadata: SimMeta } => {
  const { kind, namespace } = creation;
  checkNamespace(storage, creation);
  const object = newObject(creation, origin);
  const { name } = object.metadata;
  if (storage.collection(kind).get(namespace, name) !== undefined) throw alreadyExists(kind, name);
  return object;
};
