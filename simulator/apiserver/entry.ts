import { type SimKind, apiVersionOf } from './kind.ts';
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
  /** See itemText. Filled on first use: most states of a simulated kubelet's Lease are never read by anybody. */
  item: string | undefined;
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
export const itemText = (entry: Entry): string => {
  if (entry.item !== undefined) return entry.item;
  const { kind, object } = entry;
  const type = kind.custom
    ? { kind: kind.kind, apiVersion: apiVersionOf(kind) }
    : { kind: undefined, apiVersion: undefined };
  entry.item = JSON.stringify({ ...type, ...object, ...type });
  return entry.item;
};

/** The object as JSON text. */
export const entryText = (entry: Entry): string => {
  const { kind } = entry;
  return kind.custom
    ? itemText(entry)
    : `{"kind":"${kind.kind}","apiVersion":"${apiVersionOf(kind)}",${itemText(entry).slice(1)}`;
};

/** The object's protobuf message; undefined where there is none. */
export const entryProtobuf = (entry: Entry): Uint8Array | undefined => {
  entry.protobuf ??= objectProtobuf(entry.kind, entry.object) ?? 'none';
  return entry.protobuf === 'none' ? undefined : entry.protobuf;
};
