import { type Entry, entryText } from './entry.ts';
import type { SimKind } from './kind.ts';
import { type WholeReply, jsonReply } from './reply.ts';
import { checkScalable, scaleOf } from './scale.ts';
import { notFound, unknownResource } from './status.ts';
import type { Storage } from './storage.ts';

/** An object or one of its subresources, as named by a path. */
export interface ObjectTarget {
  readonly kind: SimKind;
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: string;
}

/** Returns the entry of the object. Throws a NotFound StatusError if it does not exist. */
export const findEntry = (storage: Storage, target: ObjectTarget): Entry => {
  const entry = storage.collection(target.kind).get(target.namespace, target.name);
  if (entry === undefined) throw notFound(target.kind, target.name);
  return entry;
};

/** Returns the error for a subresource that the kind does not have. For custom kinds it is the one for an object that does not exist. */
export const missingPart = (kind: SimKind, name: string): Error =>
  kind.custom ? notFound(kind, name) : unknownResource();

/** Handles GET of an object or a subresource. */
export const readObject = (storage: Storage, target: ObjectTarget): WholeReply => {
  const { kind, subresource } = target;
  if (subresource === 'scale' && kind.scale !== undefined) {
    const entry = findEntry(storage, target);
    checkScalable(entry, kind.scale);
    return jsonReply(JSON.stringify(scaleOf(entry, kind.scale)));
  }
  if (subresource !== undefined && !(subresource === 'status' && kind.status)) throw missingPart(kind, target.name);
  return jsonReply(entryText(findEntry(storage, target)));
};
