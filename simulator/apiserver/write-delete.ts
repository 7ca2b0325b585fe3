import type { Entry } from './entry.ts';
import { type JsonMap, asMap, getPath } from './object.ts';
import type { ServerOrigin } from './origin.ts';
import { deleteConflict } from './status.ts';
import type { Storage } from './storage.ts';
import { isReleased } from './write-update.ts';

/** The supported fields of `metav1.DeleteOptions`. The propagation policy is ignored: dependents are never deleted. */
export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
}

/** Reads the options in the body of a DELETE request. */
export const deleteOptions = (body: Readonly<JsonMap>): DeleteOptions => {
  const { gracePeriodSeconds: grace } = body;
  const { uid, resourceVersion } = asMap(body.preconditions);
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: Math.max(0, grace) } : {}),
  };
};

const checkPreconditions = (entry: Entry, options: DeleteOptions): void => {
  const { uid, resourceVersion } = entry.object.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    const problem = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw deleteConflict(entry.kind, entry.name, problem);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const problem = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw deleteConflict(entry.kind, entry.name, problem);
  }
};

/** Grace period of a pod in seconds; https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/strategy.go (CheckGracefulDelete). */
const podGrace = (entry: Entry, options: DeleteOptions): number => {
  const { object } = entry;
  const phase = getPath(object, ['status', 'phase']);
  if ((getPath(object, ['spec', 'nodeName']) ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const own = getPath(object, ['spec', 'terminationGracePeriodSeconds']);
  return options.gracePeriodSeconds ?? (typeof own === 'number' ? own : 30);
};

export interface Deletion {
  readonly entry: Entry;
  /** True if the object was removed in one step: DELETE then returns a Status, otherwise the object. */
  readonly atOnce: boolean;
}

const mark = (storage: Storage, entry: Entry, marks: { graceSeconds: number; origin: ServerOrigin }): Entry => {
  const { kind, object } = entry;
  const { generation, deletionTimestamp } = object.metadata;
  const metadata = {
    ...object.metadata,
    deletionTimestamp: marks.origin.timestamp(marks.graceSeconds),
    deletionGracePeriodSeconds: marks.graceSeconds,
    ...(generation === undefined || deletionTimestamp !== undefined ? {} : { generation: generation + 1 }),
  };
  return storage.put(kind, { ...object, metadata });
};

/** Deletes with preconditions, grace period (pods) and finalizers. Throws a Conflict StatusError if a precondition fails. */
export const deleteEntry = (
  storage: Storage,
  entry: Entry,
  request: { readonly options: DeleteOptions; readonly origin: ServerOrigin },
): Deletion => {
  const { options, origin } = request;
  checkPreconditions(entry, options);
  const { kind, object } = entry;
  const graceSeconds = kind.graceful ? podGrace(entry, options) : 0;
  const marked = object.metadata.deletionTimestamp !== undefined;
  const shorter = graceSeconds < (object.metadata.deletionGracePeriodSeconds ?? 0);
  if (marked && !shorter) return { entry, atOnce: false };
  if (!kind.graceful && (object.metadata.finalizers ?? []).length === 0) {
    storage.remove(entry);
    return { entry, atOnce: true };
  }
  const waiting = mark(storage, entry, { graceSeconds, origin });
  if (!isReleased(waiting.object)) return { entry: waiting, atOnce: false };
  storage.remove(waiting);
  return { entry: waiting, atOnce: !kind.graceful };
};
