import type { StatusCause } from './cause.ts';
import type { Entry } from './entry.ts';
import type { SimKind } from './kind.ts';
import { asList, asMap, getPath, type JsonMap } from './object.ts';
import type { Origin } from './origin.ts';
import { badRequest, deleteConflict, invalid } from './status.ts';
import type { Storage } from './storage.ts';
import { isReleased } from './write-update.ts';

/** `metav1.DeleteOptions`, as far as they are understood. */
export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly dryRun?: boolean;
  /** What is not gone at once is answered with 202. */
  readonly accepted?: boolean;
}

const policies = ['Foreground', 'Background', 'Orphan'];

/** `ValidateDeleteOptions` in https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go */
const optionProblems = ({
  orphanDependents,
  propagationPolicy: policy,
  dryRun,
}: Readonly<JsonMap>): readonly StatusCause[] => {
  const problem = (field: string, reason: string, message: string): StatusCause => ({ reason, message, field });
  const problems: StatusCause[] = [];
  const named = typeof policy === 'string' ? policy : '';
  if (orphanDependents !== undefined && policy !== undefined) {
    const message = `Invalid value: "${named}": orphanDependents and deletionPropagation cannot be both set`;
    problems.push(problem('propagationPolicy', 'FieldValueInvalid', message));
  }
  if (policy !== undefined && !policies.includes(named)) {
    const message = `Unsupported value: "${named}": supported values: "Foreground", "Background", "Orphan", "nil"`;
    problems.push(problem('propagationPolicy', 'FieldValueNotSupported', message));
  }
  if (asList(dryRun).some((value) => value !== 'All')) {
    const message = `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`;
    problems.push(problem('dryRun', 'FieldValueNotSupported', message));
  }
  return problems;
};

const deleteOptionsKind = { group: 'meta.k8s.io', kind: 'DeleteOptions' } as SimKind;

/** The policy that the older `orphanDependents` stands for. */
const policyOf = ({ propagationPolicy, orphanDependents }: Readonly<JsonMap>): string | undefined => {
  if (typeof propagationPolicy === 'string') return propagationPolicy;
  return orphanDependents === true || orphanDependents === 'true' ? 'Orphan' : undefined;
};

/**
 * The options of a DELETE request. With a body those of the query count for nothing, `dryRun` included (`DeleteResource` in
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/delete.go). Throws a StatusError:
 * BadRequest, Invalid.
 */
export const deleteOptions = (
  body: Readonly<JsonMap> | undefined,
  query: Readonly<Record<string, string>>,
): DeleteOptions => {
  const given: Readonly<JsonMap> = body ?? query;
  if (typeof given.kind === 'string' && given.kind !== 'DeleteOptions') {
    throw badRequest('decoded object cannot be converted to DeleteOptions');
  }
  const problems = optionProblems(given);
  if (problems.length > 0) throw invalid(deleteOptionsKind, '', problems);
  const { preconditions: conditions, gracePeriodSeconds, orphanDependents, dryRun } = given;
  const preconditions = asMap(conditions);
  const policy = policyOf(given);
  const grace = typeof gracePeriodSeconds === 'string' ? Number(gracePeriodSeconds) : gracePeriodSeconds;
  if (grace !== undefined && !Number.isSafeInteger(grace)) throw badRequest('gracePeriodSeconds: not a whole number');
  return {
    dryRun: dryRun === 'All' || asList(dryRun).includes('All'),
    accepted: orphanDependents === false || orphanDependents === 'false',
    ...(typeof preconditions.uid === 'string' ? { uid: preconditions.uid } : {}),
    ...(typeof preconditions.resourceVersion === 'string' ? { resourceVersion: preconditions.resourceVersion } : {}),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: Math.max(0, grace) } : {}),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
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

/** Seconds; https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/strategy.go (CheckGracefulDelete). */
const podGrace = (entry: Entry, options: DeleteOptions): number => {
  const { object } = entry;
  const phase = getPath(object, ['status', 'phase']);
  if ((getPath(object, ['spec', 'nodeName']) ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const own = getPath(object, ['spec', 'terminationGracePeriodSeconds']);
  return options.gracePeriodSeconds ?? (typeof own === 'number' ? own : 30);
};

const policyFinalizers: Readonly<Record<string, string>> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' };

export interface Deletion {
  readonly entry: Entry;
  /** Removed in one step, which DELETE answers with a Status; everything else it answers with the object. */
  readonly atOnce: boolean;
}

interface Mark {
  readonly graceSeconds: number;
  readonly finalizers: readonly string[];
}

const mark = (storage: Storage, entry: Entry, marks: Mark & { readonly origin: Origin }): Entry => {
  const { kind, object } = entry;
  const { generation, deletionTimestamp } = object.metadata;
  const metadata = {
    ...object.metadata,
    deletionTimestamp: marks.origin.timestamp(marks.graceSeconds),
    ...(kind.resource === 'namespaces' ? {} : { deletionGracePeriodSeconds: marks.graceSeconds }),
    ...(marks.finalizers.length === 0 ? {} : { finalizers: marks.finalizers }),
    ...(generation === undefined || deletionTimestamp !== undefined ? {} : { generation: generation + 1 }),
  };
  const status = kind.resource === 'namespaces' ? { status: { ...asMap(object.status), phase: 'Terminating' } } : {};
  return storage.put(kind, { ...object, ...status, metadata });
};

/** Deletes as DELETE does: preconditions, grace period (pods), finalizers; in a dry run the preconditions alone. Throws a Conflict StatusError. */
export const deleteEntry = (
  storage: Storage,
  entry: Entry,
  request: { readonly options: DeleteOptions; readonly origin: Origin },
): Deletion => {
  const { options, origin } = request;
  checkPreconditions(entry, options);
  if (options.dryRun === true) return { entry, atOnce: false };
  const { kind, object } = entry;
  const graceSeconds = kind.graceful ? podGrace(entry, options) : 0;
  const marked = object.metadata.deletionTimestamp !== undefined;
  const shorter = graceSeconds < (object.metadata.deletionGracePeriodSeconds ?? 0);
  if (marked && !shorter) return { entry, atOnce: false };
  const extra = policyFinalizers[options.propagationPolicy ?? ''];
  const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...(extra === undefined ? [] : [extra])])];
  const held = finalizers.length > 0 || kind.resource === 'namespaces';
  if (!kind.graceful && !held) {
    storage.remove(entry);
    return { entry, atOnce: true };
  }
  const waiting = mark(storage, entry, { graceSeconds, finalizers, origin });
  if (!isReleased(kind, waiting.object)) return { entry: waiting, atOnce: false };
  storage.remove(waiting);
  return { entry: waiting, atOnce: !kind.graceful };
};
