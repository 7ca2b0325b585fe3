import { ApiError, type FieldConflict, isApiError, unlessNotFound } from '../kubernetes/api/errors.ts';
import { type ServedKindPath, applyObject, getObject } from './calls.ts';
import { type InstallContext, InstallError, callOptions } from './context.ts';
import { type Difference, differencesOf } from './diff.ts';
import { type FindKind, mustFindKind } from './kinds.ts';
import { type KubeObject, fieldManager, isGardeners, nameOf } from './object.ts';

/** Change of one object by an installation. */
export interface PlannedObject {
  readonly object: KubeObject;
  readonly at: ServedKindPath;
  /** The object as it is in the cluster. Absent if it is created. */
  readonly live?: KubeObject;
  readonly change: 'create' | 'update' | 'none';
  /** Fields that change. Empty if the object is created. */
  readonly differences: readonly Difference[];
  /** Fields that other managers own, with other values than this installation sets. */
  readonly conflicts: readonly FieldConflict[];
  /** True if a field must be taken over from a manager, which may be an earlier write of this program. */
  readonly force: boolean;
}

export const isOwned = ({ metadata }: KubeObject): boolean =>
  Array.isArray(metadata.managedFields) &&
  metadata.managedFields.some(
    (entry: { readonly manager?: unknown; readonly operation?: unknown }) =>
      entry.manager === fieldManager && entry.operation === 'Apply',
  );

/** Applies an object in a dry run of the API server, which returns the result and stores nothing. */
const dryRunApply = async (
  at: ServedKindPath,
  object: KubeObject,
  context: InstallContext,
): Promise<{ readonly result: KubeObject } & Pick<PlannedObject, 'conflicts' | 'force'>> => {
  const attempt = async (force: boolean): Promise<KubeObject> =>
    (await context.client.call(applyObject(at, object, { dryRun: true, force }), callOptions(context))).value;
  try {
    return { result: await attempt(false), conflicts: [], force: false };
  } catch (error) {
    if (!(error instanceof ApiError) || error.conflicts.length === 0) throw error;
    // A conflict with our own field manager does not count.
    const conflicts = error.conflicts.filter(({ manager }) => manager !== fieldManager);
    return { result: await attempt(true), conflicts, force: true };
  }
};

const planObject = async (object: KubeObject, findKind: FindKind, context: InstallContext): Promise<PlannedObject> => {
  const at = await mustFindKind(findKind, object);
  const live = (await unlessNotFound(context.client.call(getObject(at, object), callOptions(context))))?.value;
  const none = { object, at, differences: [], conflicts: [], force: false };
  if (live !== undefined && isGardeners(live)) {
    throw new InstallError(
      `${nameOf(object)} is managed by gardener-resource-manager, which would revert every change`,
      ["on a seed where gardenlet deploys the dependency-watchdog, replace its image in gardenlet's image vector"],
    );
  }
  try {
    const { result, ...forcing } = await dryRunApply(at, object, context);
    if (live === undefined) return { ...none, change: 'create', ...forcing };
    const differences = differencesOf(live, result);
    const change = differences.length === 0 && isOwned(live) ? 'none' : 'update';
    return { ...none, live, change, differences, ...forcing };
  } catch (error) {
    // A role or a namespace that the object needs does not exist yet.
    if (live === undefined && isApiError(error, 'NotFound')) return { ...none, change: 'create' };
    throw error instanceof ApiError ? new InstallError(`${nameOf(object)} is refused: ${error.message}`) : error;
  }
};

/** Plans the change of each object with dry runs of the API server, before anything is changed. Throws an InstallError, or an ApiError. */
export const planObjects = async (
  objects: readonly KubeObject[],
  findKind: FindKind,
  context: InstallContext,
): Promise<readonly PlannedObject[]> => {
  const planned: PlannedObject[] = [];
  for (const object of objects) {
    context.progress(`checking ${nameOf(object)}`);
    planned.push(await planObject(object, findKind, context));
  }
  return planned;
};

/** Throws an InstallError that lists the fields in conflict and their managers, as kubectl does. */
export const refuseConflicts = (planned: readonly PlannedObject[]): void => {
  const lines = planned.flatMap(({ object, conflicts }) =>
    conflicts.map(({ manager, field }) => `${nameOf(object)}: ${field} is managed by "${manager}"`),
  );
  if (lines.length === 0) return;
  throw new InstallError('other field managers have set these fields to other values; nothing was changed', [
    ...lines,
    'leave these fields to them, or take them over with --force-conflicts',
  ]);
};

/** Applies the objects that the plan changes. Throws an ApiError. */
export const applyPlan = async (planned: readonly PlannedObject[], context: InstallContext): Promise<void> => {
  for (const { object, at, change, force } of planned) {
    if (change === 'none') continue;
    context.progress(`applying ${nameOf(object)}`);
    await context.client.call(applyObject(at, object, { dryRun: false, force }), callOptions(context));
  }
};
