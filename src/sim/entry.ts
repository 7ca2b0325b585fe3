import { apiVersionOf, type SimKind } from './kind.ts';
import { objectProtobuf } from './kube-protobuf.ts';
import type { SimObject } from './object.ts';

/** One state of one stored object. Never changes; a write makes a new one. */
export interface Entry {
  readonly kind: SimKind;
  /** `namespace/name`, or `name` for cluster-scoped kinds: the order of lists. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly object: SimObject;
  /** See itemOf. Filled on first use: most states of a simulated kubelet's Lease are never read by anybody. */
  item: string | undefined;
  metadata: string | undefined;
  protobuf: Uint8Array | 'none' | undefined;
}

const entryKey = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`);

type Identity = Pick<Entry, 'kind' | 'key' | 'namespace' | 'name'>;

/** All entries are made here, so that they are alike to V8 and none of them grows when its texts are filled in. */
const entryOf = ({ kind, key, namespace, name }: Identity, object: SimObject, revision: number): Entry => ({
  kind,
  key,
  namespace,
  name,
  revision,
  object,
  item: undefined,
  metadata: undefined,
  protobuf: undefined,
});

export const createEntry = (kind: SimKind, object: SimObject, revision: number): Entry => {
  const { name, namespace = '' } = object.metadata;
  return entryOf({ kind, key: entryKey(namespace, name), namespace, name }, object, revision);
};

/** Another state of the same object. */
export const succeedingEntry = (previous: Entry, object: SimObject, revision: number): Entry =>
  entryOf(previous, object, revision);

/** The object as an item of a list: built-in kinds come without kind and apiVersion there. In one piece, as lists are made of it often. */
const itemOf = (entry: Entry): string => {
  if (entry.item !== undefined) return entry.item;
  const { kind, object } = entry;
  const type = kind.custom
    ? { kind: kind.kind, apiVersion: apiVersionOf(kind) }
    : { kind: undefined, apiVersion: undefined };
  entry.item = JSON.stringify({ ...type, ...object, ...type });
  return entry.item;
};

/** How an answer shows objects: whole, in JSON or where there is one in protobuf, or with their metadata alone (`PartialObjectMetadata`). */
export type Form = 'object' | 'protobuf' | 'metadata';

const typeText = (kind: string, apiVersion: string): string => `{"kind":"${kind}","apiVersion":"${apiVersion}",`;

const metadataOf = (entry: Entry): string => {
  entry.metadata ??= `"metadata":${JSON.stringify(entry.object.metadata)}}`;
  return entry.metadata;
};

/** The object as JSON text. */
export const entryText = (entry: Entry, form: Form): string => {
  const { kind } = entry;
  if (form === 'metadata') return typeText('PartialObjectMetadata', 'meta.k8s.io/v1') + metadataOf(entry);
  return kind.custom ? itemOf(entry) : typeText(kind.kind, apiVersionOf(kind)) + itemOf(entry).slice(1);
};

/** The object as an item of a list, whose type tells that of the items where they are whole and of a built-in kind. */
export const itemText = (entry: Entry, form: Form): string =>
  form === 'metadata' ? entryText(entry, form) : itemOf(entry);

/** The object's protobuf message; undefined where there is none. */
export const entryProtobuf = (entry: Entry): Uint8Array | undefined => {
  entry.protobuf ??= objectProtobuf(entry.kind, entry.object) ?? 'none';
  return entry.protobuf === 'none' ? undefined : entry.protobuf;
};
