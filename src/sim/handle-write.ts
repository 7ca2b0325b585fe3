import { createEntry, type Entry, entryText, type Form } from './entry.ts';
import { findEntry, missingPart, type ObjectTarget } from './handle-read.ts';
import { applyJsonPatch } from './json-patch.ts';
import type { SimKind } from './kind.ts';
import { applyMergePatch } from './merge-patch.ts';
import { checkJsonBody, patchKindOf } from './negotiate.ts';
import { asMap, isMap, type JsonMap, type SimObject, withPath } from './object.ts';
import type { Origin } from './origin.ts';
import type { Query } from './read-options.ts';
import type { Reply } from './reply.ts';
import { scaledObject, scaleOf } from './scale.ts';
import { badRequest, invalid, methodNotAllowed } from './status.ts';
import type { Storage } from './storage.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';
import { checkBodyType, createdObject } from './write-create.ts';
import { deleteEntry, deleteOptions } from './write-delete.ts';
import { isReleased, type Update, updatedObject } from './write-update.ts';

export interface WriteHost {
  readonly storage: Storage;
  readonly origin: Origin;
}

export interface WriteInput {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly contentType: string | undefined;
  readonly body: string;
  readonly query: Query;
  readonly form: Form;
}

const parseJson = (text: string, describe: (problem: string) => string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badRequest(describe(error instanceof Error ? error.message : String(error)));
  }
};

const parseObject = (kind: SimKind, text: string): JsonMap => {
  const body = parseBody(kind, text);
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

const parseBody = (kind: SimKind, text: string): JsonMap => {
  const describe = (problem: string): string =>
    `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: ${problem}`;
  const body = parseJson(text, describe);
  if (!isMap(body)) throw badRequest(describe('not an object'));
  return body;
};

const isDryRun = (query: Query): boolean => query.dryRun === 'All';

/** POST to a collection. */
export const create = (host: WriteHost, target: { kind: SimKind; namespace: string }, input: WriteInput): Reply => {
  checkJsonBody(input.contentType);
  const { kind, namespace } = target;
  const wanted = parseObject(kind, input.body);
  const object = createdObject(host.storage, { kind, namespace, wanted }, host.origin);
  const entry = isDryRun(input.query)
    ? createEntry(kind, object as SimObject, host.storage.revision)
    : host.storage.put(kind, object);
  return { status: 201, text: entryText(entry, input.form) };
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
  const patch = parseJson(input.body, (problem) => `error decoding patch: ${problem}`);
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
  if (put) checkJsonBody(input.contentType);
  const scale = put ? parseBody(kind, input.body) : patchedValue(input, kind, current);
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
  if (put) checkJsonBody(input.contentType);
  const wanted = put ? parseObject(kind, input.body) : patchedValue(input, kind, entry.object);
  if (!put) checkPatched(kind, wanted);
  const result = commit(host, entry, { target, wanted, put, dryRun: isDryRun(input.query) });
  return { status: 200, text: entryText(result, input.form) };
};

/** The namespace controller's last step: the finalizers of the spec, and nothing else. */
const finalizeNamespace = (host: WriteHost, entry: Entry, input: WriteInput): Reply => {
  if (input.method !== 'PUT') throw methodNotAllowed();
  const finalizers = asMap(parseBody(entry.kind, input.body).spec).finalizers ?? [];
  const wanted = withPath(entry.object, ['spec', 'finalizers'], finalizers);
  const result = commit(host, entry, { target: 'object', wanted, put: true, dryRun: isDryRun(input.query) });
  return { status: 200, text: entryText(result, input.form) };
};

const putMissing = (host: WriteHost, target: ObjectTarget, input: WriteInput): Reply => {
  checkJsonBody(input.contentType);
  const body = parseBody(target.kind, input.body);
  const metadata = asMap(body.metadata);
  if (metadata.name !== target.name) throw badRequest('the name of the object does not match the name on the URL');
  return create(host, target, input);
};

const remove = (host: WriteHost, entry: Entry, input: WriteInput): Reply => {
  const { kind } = entry;
  const options = deleteOptions(input.body === '' ? undefined : parseBody(kind, input.body), input.query);
  const deletion = deleteEntry(host.storage, entry, { options, origin: host.origin });
  if (!deletion.atOnce) return { status: 200, text: entryText(deletion.entry, input.form) };
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
    return remove(host, findEntry(host.storage, target), input);
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
  const body = input.body === '' ? undefined : asMap(parseJson(input.body, (problem) => problem));
  const options = deleteOptions(body, input.query);
  for (const entry of entries) deleteEntry(host.storage, entry, { options, origin: host.origin });
};
