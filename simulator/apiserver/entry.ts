import { type SimKind, apiVersionOf } from './kind.ts';
import { objectProtobuf } from './kube-protobuf.ts';
import type { SimObject } from './object.ts';

/** One state of one stored object. Immutable but for its caches: a write creates a new entry. */
export interface Entry {
  readonly kind: SimKind;
  /** `namespace/name`, or `name` for cluster-scoped kinds. Lists are sorted by it. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly object: SimObject;
  /** Cache of `itemText`. Filled on first use, because most states of a simulated kubelet's Lease are never read. */
  item: string | undefined;
  /** Cache of `entryProtobuf`. */
  protobuf: Uint8Array | undefined;
}

/** Creates every entry, so that all have the same V8 shape and none grows when its caches are filled. */
export const createEntry = (kind: SimKind, object: SimObject, revision: number): Entry => {
  const { name, namespace = '' } = object.metadata;
  const key = namespace === '' ? name : `${namespace}/${name}`;
  return { kind, key, namespace, name, revision, object, item: undefined, protobuf: undefined };
};

/** Returns the JSON of the object as a list item (built-in kinds without kind and apiVersion). Cached, because lists reuse it often. */
export const itemText = (entry: Entry): string => {
  if (entry.item !== undefined) return entry.item;
  const { kind, object } = entry;
  const type = kind.custom
    ? { kind: kind.kind, apiVersion: apiVersionOf(kind) }
    : { kind: undefined, apiVersion: undefined };
  entry.item = JSON.stringify({ ...type, ...object, ...type });
  return entry.item;
};

/** Returns the JSON of the object. */
export const entryText = (entry: Entry): string => {
  const { kind } = entry;
  return kind.custom
    ? itemText(entry)
    : `{"kind":"${kind.kind}","apiVersion":"${apiVersionOf(kind)}",${itemText(entry).slice(1)}`;
};

/** Returns the object's protobuf message; undefined if its kind is only served in JSON. */
export const entryProtobuf = (entry: Entry): Uint8Array | undefined =>
  (entry.protobuf ??= objectProtobuf(entry.kind, entry.object));
