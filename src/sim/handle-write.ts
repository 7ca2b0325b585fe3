import { createEntry, type Entry, entryText, type Form } from './entry.ts';
import { findEntry, missingPart, type ObjectTarget } from './handle-read.ts';
import { applyJsonPatch } from './json-patch.ts';
import type { SimKind } from './kind.ts';
import { applyMergePatch } from './merge-patch.ts';
import { patchKindOf } from './negotiate.ts';
import { asMap, isMap, type JsonMap, type SimObject, withPath } from './object.ts';
import type { Origin } from './origin.ts';
import { bodyMessageOf, deleteOptionsMessage, scaleMessage } from './protobuf-body/messages.ts';
import type { Query } from './read-options.ts';
import type { Reply } from './reply.ts';
import { bodyText, parseJson, readObjectBody, type RequestBody, type WantedBody } from './request-body.ts';
import { scaledObject, scaleOf } from './scale.ts';
import { badRequest, invalid, methodNotAllowed } from './status.ts';
import type { Storage } from './storage.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';
import { checkBodyType, createdObject } from './write-create.ts';
import { deleteEntry, type DeleteOptions, deleteOptions } from './write-delete.ts';
import { isReleased, type Update, updatedObject } from './write-update.ts';

export interface WriteHost {
  readonly storage: Storage;
  readonly origin: Origin;
}

export interface WriteInput extends RequestBody {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query: Query;
  readonly view: Form;
}

const readBodyOf = (
  kind: SimKind,
  input: WriteInput,
  { kind: name, message }: Omit<WantedBody, 'describe'>,
): JsonMap => {
  const describe = (problem: string): string =>
    `the object provided is unrecognized (must be of type ${kind.kind}): ${problem}`;
  return readObjectBody(input, { kind: name, message, describe });
};

const readObject = (kind: SimKind, input: WriteInput): JsonMap =>
  readBodyOf(kind, input, { kind: kind.kind, message: bodyMessageOf(kind) });

/** The object that a POST or PUT sends, of the type that it should be. */
const readTyped = (kind: SimKind, input: WriteInput): JsonMap => {
  const body = readObject(kind, input);
  checkBodyType(kind, body);
  const problem = kind.decodeProblem?.(body);
  if (problem === undefined) return body;
  throw badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${problem}`);
};

/** Throws Invalid for a patched object that the real server could not decode. */
const checkPatched = (kind: SimKind, object: Readonly<JsonMap>): void => {
  const problem = kind.decodeProblem?.(object);
  if (problem === undefined) return;
  const cause = { reason: 'FieldValueInvalid', message: `Invalid value: ${problem}`, field: 'patch' };
  throw invalid({ ...kind, group: '', kind: '' }, '', [cause]);
};

const isDryRun = (query: Query): boolean => query.dryRun === 'All';

/** POST to a collection. */
export const create = (host: WriteHost, target: { kind: SimKind; namespace: string }, input: WriteInput): Reply => {
  const { kind, namespace } = target;
  const wanted = readTyped(kind, input);
  const object = createdObject(host.storage, { kind, namespace, wanted }, host.origin);
  const entry = isDryRun(input.query)
    ? createEntry(kind, object as SimObject, host.storage.revision)
    : host.storage.put(kind, object);
  return { status: 201, text: entryText(entry, input.view) };
};

/** Stores an update, or leaves things as they are when it changes nothing. A deleted object that nothing holds back any more goes. */
const commit = (host: WriteHost, entry: Entry, update: Update & { readonly dryRun: boolean }): Entry => {
  const object = updatedObject(entry, update);
  if (object === undefined) return entry;
  const kept = { ...object, metadata: { ...object.metadata, resourceVersion: entry.object.metadata.resourceVersion } };
  const unstored = createEntry(entry.kind, kept as unknown as SimObject, entry.revision);
  if (update.dryRun) return unstored;
  if (!isReleased(entry.kind, object)) return host.storage.put(entry.kind, object);
  host.storage.remove(unstored);
  return unstored;
};

const patchedValue = (input: WriteInput, kind: SimKind, current: unknown): JsonMap => {
  const type = patchKindOf(input.contentType, kind.custom);
  const patch = parseJson(bodyText(input), (problem) => `error decoding patch: ${problem}`);
  if (type === 'json') {
    const result = applyJsonPatch(current, patch);
    if (!isMap(result)) throw badRequest('the patch leaves no object');
    return result;
  }
  if (!isMap(patch)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal the patch into Go value of type map[string]interface {}',
    );
  }
  return asMap(type === 'merge' ? applyMergePatch(current, patch) : applyStrategicMergePatch(current, patch));
};

const writeScale = (host: WriteHost, entry: Entry, input: WriteInput): Reply => {
  const { kind } = entry;
  if (kind.scale === undefined) throw missingPart(kind, entry.name);
  const current = scaleOf(entry, kind.scale);
  const put = input.method === 'PUT';
  const scale = put
    ? readBodyOf(kind, input, { kind: 'Scale', message: kind.custom ? undefined : scaleMessage })
    : patchedValue(input, kind, current);
  const wanted = scaledObject(entry, kind.scale, scale);
  const result = commit(host, entry, { target: 'scale', wanted, put, dryRun: isDryRun(input.query) });
  return { status: 200, text: JSON.stringify(scaleOf(result, kind.scale)) };
};

const writeObject = (
  host: WriteHost,
  entry: Entry,
  request: { input: WriteInput; target: Update['target'] },
): Reply => {
  const { input, target } = request;
  const { kind } = entry;
  const put = input.method === 'PUT';
  const wanted = put ? readTyped(kind, input) : patchedValue(input, kind, entry.object);
  if (!put) checkPatched(kind, wanted);
  const result = commit(host, entry, { target, wanted, put, dryRun: isDryRun(input.query) });
  return { status: 200, text: entryText(result, input.view) };
};

/** The namespace controller's last step: the finalizers of the spec, and nothing else. */
const finalizeNamespace = (host: WriteHost, entry: Entry, input: WriteInput): Reply => {
  if (input.method !== 'PUT') throw methodNotAllowed();
  const finalizers = asMap(readObject(entry.kind, input).spec).finalizers ?? [];
  const wanted = withPath(entry.object, ['spec', 'finalizers'], finalizers);
  const result = commit(host, entry, { target: 'object', wanted, put: true, dryRun: isDryRun(input.query) });
  return { status: 200, text: entryText(result, input.view) };
};

const putMissing = (host: WriteHost, target: ObjectTarget, input: WriteInput): Reply => {
  const metadata = asMap(readObject(target.kind, input).metadata);
  if (metadata.name !== target.name) throw badRequest('the name of the object does not match the name on the URL');
  return create(host, target, input);
};

const optionsOf = (input: WriteInput): DeleteOptions => {
  if (input.body.length === 0) return deleteOptions(undefined, input.query);
  const wanted = { kind: 'DeleteOptions', message: deleteOptionsMessage, describe: (problem: string) => problem };
  return deleteOptions(readObjectBody(input, wanted), input.query);
};

const remove = (host: WriteHost, target: ObjectTarget, input: WriteInput): Reply => {
  const options = optionsOf(input);
  const entry = findEntry(host.storage, target);
  const { kind } = entry;
  const deletion = deleteEntry(host.storage, entry, { options, origin: host.origin });
  if (!deletion.atOnce) return { status: options.accepted ? 202 : 200, text: entryText(deletion.entry, input.view) };
  const group = kind.group === '' ? {} : { group: kind.group };
  const details = { name: entry.name, ...group, kind: kind.resource, uid: entry.object.metadata.uid };
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  return { status: 200, text: JSON.stringify(status) };
};

/** PUT, PATCH or DELETE of an object or one of its subresources. */
export const writeTarget = (host: WriteHost, target: ObjectTarget, input: WriteInput): Reply => {
  const { kind, subresource } = target;
  if (input.method === 'POST') throw methodNotAllowed();
  if (input.method === 'DELETE') {
    if (subresource !== undefined) throw methodNotAllowed();
    return remove(host, target, input);
  }
  if (input.method === 'PATCH') patchKindOf(input.contentType, kind.custom);
  if (subresource === undefined) {
    const missing = host.storage.collection(kind).get(target.namespace, target.name) === undefined;
    if (missing && kind.createOnUpdate && input.method === 'PUT') return putMissing(host, target, input);
    return writeObject(host, findEntry(host.storage, target), { input, target: 'object' });
  }
  if (subresource === 'status' && kind.status) {
    return writeObject(host, findEntry(host.storage, target), { input, target: 'status' });
  }
  if (subresource === 'scale' && kind.scale !== undefined) {
    return writeScale(host, findEntry(host.storage, target), input);
  }
  if (subresource === 'finalize' && kind.resource === 'namespaces') {
    return finalizeNamespace(host, findEntry(host.storage, target), input);
  }
  throw missingPart(kind, target.name);
};

/** DELETE of a collection: every one of `entries`, by the rules of single deletes. */
export const removeAll = (host: WriteHost, entries: readonly Entry[], input: WriteInput): void => {
  const options = optionsOf(input);
  for (const entry of entries) deleteEntry(host.storage, entry, { options, origin: host.origin });
};
