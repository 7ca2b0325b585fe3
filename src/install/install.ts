import { type FieldConflict, unlessNotFound } from '../kubernetes/api/errors.ts';
import { applyObject, getObject } from './calls.ts';
import { type InstallContext, InstallError, callOptions } from './context.ts';
import type { Difference } from './diff.ts';
import { refuseHelms } from './helm.ts';
import { type OwnedObject, findOwned, outdatedOf, removeObjects, untilStopped } from './inventory.ts';
import { type FindKind, createFindKind, mustFindKind } from './kinds.ts';
import { leaseNames, untilLed } from './leader.ts';
import { type InstalledComponent, type KubeObject, ownedBy } from './object.ts';
import { type PlannedObject, applyPlan, planObjects, refuseConflicts } from './plan.ts';
import { isNarrowed, widened } from './roles.ts';
import { untilRolledOut } from './rollout.ts';

export interface InstallOptions {
  /** Namespace of the components. */
  readonly namespace: string;
  readonly components: readonly InstalledComponent[];
  /** Components that are upgraded with them. Their outdated objects are not removed. */
  readonly alsoUpgraded: readonly InstalledComponent[];
  readonly createNamespace: boolean;
  /** True if fields are taken over from other managers. */
  readonly forceConflicts: boolean;
  /** True if nothing is changed, and the result shows what would be. */
  readonly dryRun: boolean;
}

export type ChangeWord = 'created' | 'configured' | 'unchanged' | 'pruned';

/** Change of one object that was made, or in a dry run would be. */
export interface ChangedObject {
  readonly object: KubeObject;
  readonly change: ChangeWord;
  readonly differences: readonly Difference[];
  readonly conflicts: readonly FieldConflict[];
}

export interface Installed {
  readonly objects: readonly ChangedObject[];
  /** Pods that lead, by component. Empty in a dry run. */
  readonly leaders: ReadonlyMap<string, string>;
}

const words = { create: 'created', update: 'configured', none: 'unchanged' } as const;

const changedOf = (planned: readonly PlannedObject[], outdated: readonly OwnedObject[]): readonly ChangedObject[] => [
  ...planned.map(({ object, change, differences, conflicts }) => ({
    object,
    change: words[change],
    differences,
    conflicts,
  })),
  ...outdated.map(({ object }) => ({ object, change: 'pruned' as const, differences: [], conflicts: [] })),
];

/** Creates the namespace if needed. `uninstall` does not delete it. Throws an InstallError if it does not exist and must not be created. */
const ensureNamespace = async (
  { namespace, createNamespace, dryRun }: InstallOptions,
  findKind: FindKind,
  context: InstallContext,
): Promise<void> => {
  const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  const at = await mustFindKind(findKind, object);
  const found = await unlessNotFound(context.client.call(getObject(at, object), callOptions(context)));
  if (found !== undefined) return;
  if (!createNamespace) {
    throw new InstallError(`there is no namespace ${namespace}`, ['create it, or add --create-namespace']);
  }
  if (!dryRun) await context.client.call(applyObject(at, object, { dryRun, force: false }), callOptions(context));
};

/** Removes outdated objects. The new pods are ready by then, so that an outage in progress never lacks a prober. */
const prune = async (outdated: readonly OwnedObject[], context: InstallContext): Promise<void> => {
  const deployments = outdated.filter(({ object }) => object.kind === 'Deployment');
  await removeObjects(deployments, context);
  const left = await untilStopped(
    deployments.map(({ object }) => object),
    context,
  );
  if (left.length > 0) throw new InstallError('pods of an older version have not ended in time', left);
  // A pod needs its rights until it has released its Lease.
  await removeObjects(
    outdated.filter(({ object }) => object.kind !== 'Deployment'),
    context,
  );
};

const awaitLeaders = async (
  components: readonly InstalledComponent[],
  context: InstallContext,
): Promise<ReadonlyMap<string, string>> => {
  const leaders = new Map<string, string>();
  for (const { component, objects } of components) {
    const leaseName = leaseNames.get(component);
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    if (leaseName === undefined || deployment === undefined) continue;
    leaders.set(component, await untilLed({ deployment, leaseName }, context));
  }
  return leaders;
};

/**
 * Installs these components, and removes their objects of older versions. Resolves when they run and lead. Changes nothing if nothing differs.
 * Throws an InstallError or an ApiError; objects that were applied before stay, and the next run continues.
 */
export const install = async (options: InstallOptions, context: InstallContext): Promise<Installed> => {
  const { namespace, forceConflicts, dryRun } = options;
  const findKind = createFindKind(context);
  await ensureNamespace(options, findKind, context);
  const components = [...options.components, ...options.alsoUpgraded].map(({ component, objects }) => ({
    component,
    objects: objects.map((object) => ownedBy(object, { namespace, component })),
  }));
  const objects = components.flatMap((one) => one.objects);
  const planned = await planObjects(objects, findKind, context);
  const names = options.components.map(({ component }) => component);
  const outdated = outdatedOf(await findOwned({ namespace, components: names, objects }, findKind, context), objects);
  const changed = changedOf(planned, outdated);
  if (!forceConflicts && !dryRun) {
    refuseConflicts(planned);
    refuseHelms(outdated);
  }
  if (dryRun) return { objects: changed, leaders: new Map() };
  // Old pods keep their rights until they are gone: if the rollout never becomes ready, they continue to work.
  await applyPlan(planned.map(widened), context);
  await untilRolledOut(
    objects.filter(({ kind }) => kind === 'Deployment'),
    context,
  );
  await prune(outdated, context);
  const leaders = await awaitLeaders(components, context);
  await applyPlan(planned.filter(isNarrowed), context);
  return { objects: changed, leaders };
};
