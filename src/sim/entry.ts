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
  /** See bodyOf. Filled on first use: most states of a simulated kubelet's Lease are never read by anybody. */
  body?: string;
  metadata?: string;
  protobuf?: Uint8Array | 'none';
}

const entryKey = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`);

export const createEntry = (kind: SimKind, object: SimObject, revision: number): Entry => {
  const { name, namespace = '' } = object.metadata;
  return { kind, key: entryKey(namespace, name), namespace, name, revision, object };
};

/** The object's text behind `{"kind":...,"apiVersion":...,`; lists of built-in kinds leave these two out. */
const bodyOf = (entry: Entry): string => {
  entry.body ??= JSON.stringify({ ...entry.object, kind: undefined, apiVersion: undefined }).slice(1);
  return entry.body;
};

/** How an answer shows objects: whole, in JSON or where there is one in protobuf, or with their metadata alone (`PartialObjectMetadata`). */
export type Form = 'object' | 'protobuf' | 'metadata';

const typeText = (kind: string, apiVersion: string): string => `{"kind":"${kind}","apiVersion":"${apiVersion}",`;

const metadataOf = (entry: Entry): string => {
  entry.metadata ??= `"metadata":${JSON.stringify(entry.object.metadata)}}`;
  return entry.metadata;
};

/** The object as JSON text. */
export const entryText = (entry: Entry, form: Form): string =>
  form === 'metadata'
    ? typeText('PartialObjectMetadata', 'meta.k8s.io/v1') + metadataOf(entry)
    : typeText(entry.kind.kind, apiVersionOf(entry.kind)) + bodyOf(entry);

/** The object as an item of a list: built-in kinds come without kind and apiVersion there. */
export const itemText = (entry: Entry, form: Form): string =>
  form === 'metadata' || entry.kind.custom ? entryText(entry, form) : `{${bodyOf(entry)}`;

/** The object's protobuf message; undefined where there is none. */
export const entryProtobuf = (entry: Entry): Uint8Array | undefined => {
  entry.protobuf ??= objectProtobuf(entry.kind, entry.object) ?? 'none';
  return entry.protobuf === 'none' ? undefined : entry.protobuf;
};
