import { errorText } from '../../src/kubernetes/api/errors.ts';
import { type Entry, createEntry, entryText } from './entry.ts';
import { type ObjectTarget, findEntry, missingPart } from './handle-read.ts';
import type { SimKind } from './kind.ts';
import { type JsonMap, type SimObject, asMap, isMap } from './object.ts';
import type { ServerOrigin } from './origin.ts';
import type { WholeReply } from './reply.ts';
import { scaleOf, scaledObject } from './scale.ts';
import { StatusError, badRequest, methodNotAllowed } from './status.ts';
import type { Storage } from './storage.ts';
import { createdObject } from './write-create.ts';
import { type DeleteOptions, deleteEntry, deleteOptions } from './write-delete.ts';
import { type Update, isReleased, updatedObject } from './write-update.ts';

/** Applies a JSON merge patch (RFC 7396). Returns a new value and leaves `target` unchanged. */
const applyMergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isMap(patch)) return patch;
  const result: JsonMap = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else result[key] = applyMergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value);
  }
  return result;
};

export interface WriteHost {
  readonly storage: Storage;
  readonly origin: ServerOrigin;
}

export interface WriteInput {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly contentType: string | undefined;
  /** Empty if the request has no body. */
  readonly body: string | Uint8Array;
}

/** Reads the object in a JSON body. Throws a BadRequest StatusError. */
const readObjectBody = ({ body }: WriteInput): JsonMap => {
  let object: unknown;
  try {
    object = JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    throw badRequest(`json parse error: ${errorText(error)}`);
  }
  if (!isMap(object)) throw badRequest('json parse error: not an object');
  return object;
};

/** Reads the object in the body of a POST or PUT. Throws a BadRequest StatusError if it cannot be decoded. */
const readTyped = (kind: SimKind, input: WriteInput): JsonMap => {
  const body = readObjectBody(input);
  const problem = kind.decodeProblem?.(body);
  if (problem === undefined) return body;
  throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${problem}`);
};

/** Handles POST to a collection. */
export const create = (
  host: WriteHost,
  target: { kind: SimKind; namespace: string },
  input: WriteInput,
): WholeReply => {
  const { kind, namespace } = target;
  const wanted = readTyped(kind, input);
  const object = createdObject(host.storage, { kind, namespace, wanted }, host.origin);
  return { status: 201, body: entryText(host.storage.put(kind, object)) };
};

/** Stores an update unless it changes nothing. Removes a deleted object that no finalizer or grace period holds back any more. */
const commit = (host: WriteHost, entry: Entry, update: Update): Entry => {
  const object = updatedObject(entry, update);
  if (object === undefined) return entry;
  const kept = { ...object, metadata: { ...object.metadata, resourceVersion: entry.object.metadata.resourceVersion } };
  const unstored = createEntry(entry.kind, kept as unknown as SimObject, entry.revision);
  if (!isReleased(object)) return host.storage.put(entry.kind, object);
  host.storage.remove(unstored);
  return unstored;
};

const patchedValue = (input: WriteInput, current: unknown): JsonMap =>
  asMap(applyMergePatch(current, readObjectBody(input)));

const writeScale = (host: WriteHost, entry: Entry, input: WriteInput): WholeReply => {
  const { kind } = entry;
  if (kind.scale === undefined) throw missingPart(kind, entry.name);
  if (input.method !== 'PATCH') throw methodNotAllowed();
  const wanted = scaledObject(entry, kind.scale, patchedValue(input, scaleOf(entry, kind.scale)));
  const result = commit(host, entry, { target: 'scale', wanted });
  return { status: 200, body: JSON.stringify(scaleOf(result, kind.scale)) };
};

const writeObject = (
  host: WriteHost,
  entry: Entry,
  request: { input: WriteInput; target: Update['target'] },
): WholeReply => {
  const { input, target } = request;
  const { kind } = entry;
  const wanted = input.method === 'PUT' ? readTyped(kind, input) : patchedValue(input, entry.object);
  const result = commit(host, entry, { target, wanted });
  return { status: 200, body: entryText(result) };
};

const optionsOf = (input: WriteInput): DeleteOptions =>
  input.body.length === 0 ? {} : deleteOptions(readObjectBody(input));

const remove = (host: WriteHost, target: ObjectTarget, input: WriteInput): WholeReply => {
  const options = optionsOf(input);
  const entry = findEntry(host.storage, target);
  const { kind } = entry;
  const deletion = deleteEntry(host.storage, entry, { options, origin: host.origin });
  if (!deletion.atOnce) return { status: 200, body: entryText(deletion.entry) };
  const group = kind.group === '' ? {} : { group: kind.group };
  const details = { name: entry.name, ...group, kind: kind.resource, uid: entry.object.metadata.uid };
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  return { status: 200, body: JSON.stringify(status) };
};

/** Throws UnsupportedMediaType (415) for all patches except merge patches. */
const checkPatchFormat = (contentType: string | undefined): void => {
  const accepted = 'application/merge-patch+json';
  if ((contentType ?? '').split(';')[0]?.trim().toLowerCase() === accepted) return;
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
};

/** Handles PUT, PATCH or DELETE of an object or one of its subresources. */
export const writeTarget = (host: WriteHost, target: ObjectTarget, input: WriteInput): WholeReply => {
  const { kind, subresource } = target;
  if (input.method === 'POST') throw methodNotAllowed();
  if (input.method === 'DELETE') {
    if (subresource !== undefined) throw methodNotAllowed();
    return remove(host, target, input);
  }
  if (input.method === 'PATCH') checkPatchFormat(input.contentType);
  if (subresource === undefined) {
    return writeObject(host, findEntry(host.storage, target), { input, target: 'object' });
  }
  if (subresource === 'status' && kind.status) {
    return writeObject(host, findEntry(host.storage, target), { input, target: 'status' });
  }
  if (subresource === 'scale' && kind.scale !== undefined) {
    return writeScale(host, findEntry(host.storage, target), input);
  }
  throw missingPart(kind, target.name);
};
