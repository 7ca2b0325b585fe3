import { type InstallContext, InstallError } from './context.ts';
import { type HelmRelease, helmReleasesOf } from './helm.ts';
import { type OwnedObject, findOwned, removeObjects, untilStopped } from './inventory.ts';
import { type FindKind, createFindKind } from './kinds.ts';
import { leaseNames, removeLease } from './leader.ts';
import { type KubeObject, componentLabel, nameOf } from './object.ts';
import { findOtherProbers } from './other-prober.ts';
import { whileStopped } from './stopped.ts';
import { refuseUnlabelled } from './unlabelled.ts';

/** Resources that are still at 0, and why, a line each. */
export type LeftHeld = readonly string[];

export interface UninstallOptions {
  /** Namespace of the installation. */
  readonly namespace: string;
  readonly components: readonly string[];
  /** True if the objects are removed even if resources stay at 0. */
  readonly force: boolean;
  readonly dryRun: boolean;
  /** Lists the names of held resources in the cluster. `owned`: the objects of the prober. */
  readonly listHeld: (owned: readonly KubeObject[], context: InstallContext) => Promise<readonly string[]>;
  /** Restores held resources. `owned`: the objects of the prober. Except in a dry run, called while none of its pods runs. */
  readonly release: (owned: readonly KubeObject[], context: InstallContext) => Promise<Released>;
}

export interface Released {
  /** Names of the restored resources, or in a dry run of those to restore, such as `Deployment shoot--a--b/kube-controller-manager`. */
  readonly restored: readonly string[];
  readonly left: LeftHeld;
}

export interface Uninstalled extends Released {
  readonly removed: readonly string[];
  /** Other probers, a line each. Held resources are theirs, so that nothing was restored. */
  readonly others: readonly string[];
  /** Helm releases that have no objects left, only their record. */
  readonly helmReleases: readonly HelmRelease[];
}

const isDeployment = ({ object }: OwnedObject): boolean => object.kind === 'Deployment';

const releaseFirst = async (
  owned: readonly OwnedObject[],
  { release, force }: UninstallOptions,
  context: InstallContext,
): Promise<Released> =>
  whileStopped(objectsIn(owned.filter(isDeployment)), context, async () => {
    const released = await release(objectsIn(owned), context);
    if (released.left.length > 0 && !force) {
      throw new InstallError(
        'some resources would stay at 0 replicas; nothing was removed, and the prober runs again',
        [...released.left, 'fix the cause, or remove the installation anyway with --force'],
      );
    }
    return released;
  });

const componentOf = ({ object }: OwnedObject): string => object.metadata.labels?.[componentLabel] ?? '';

/** Returns stand-ins for Deployments that were deleted before, as by `helm uninstall`: their pods run until they have been garbage collected. */
const deletedDeployments = (owned: readonly OwnedObject[], namespace: string): readonly KubeObject[] => {
  const running = new Set(owned.filter(isDeployment).map(componentOf));
  const apps = owned.filter((one) => !running.has(componentOf(one))).map(({ object }) => object.metadata.labels?.app);
  return [...new Set(apps)]
    .filter((app) => app !== undefined)
    .map((app) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: app, namespace },
      spec: { selector: { matchLabels: { app } } },
    }));
};

/** Waits for the end of these Deployments' pods. Throws an InstallError if one is left: it would scale down restored resources. */
const untilOrphansEnded = async (
  owned: readonly OwnedObject[],
  namespace: string,
  context: InstallContext,
): Promise<void> => {
  const left = await untilStopped(deletedDeployments(owned, namespace), context);
  if (left.length > 0) throw new InstallError('pods of a deleted Deployment have not ended in time', left);
};

const objectsIn = (owned: readonly OwnedObject[]): readonly KubeObject[] => owned.map(({ object }) => object);

interface Removal extends Pick<UninstallOptions, 'namespace' | 'components'> {
  /** Names of the Leases to remove, by component. */
  readonly ownLeases: ReadonlyMap<string, string>;
}

/** Removes Deployments first, and all else once their pods have ended: a pod needs its rights to release its Lease. */
const removeAll = async (
  { namespace, components, ownLeases }: Removal,
  findKind: FindKind,
  context: InstallContext,
): Promise<Pick<Uninstalled, 'removed' | 'helmReleases'>> => {
  // Read again, because Deployments have been scaled.
  const owned = await findOwned({ namespace, components }, findKind, context);
  const deployments = owned.filter(isDeployment);
  await removeObjects(deployments, context);
  const running = await untilStopped([...objectsIn(deployments), ...deletedDeployments(owned, namespace)], context);
  if (running.length > 0) throw new InstallError('pods have not ended in time; run the command again', running);
  const leases: string[] = [];
  for (const component of new Set(owned.map(componentOf))) {
    const name = ownLeases.get(component);
    const isRemoved = name !== undefined && (await removeLease({ namespace, name }, context));
    if (isRemoved) leases.push(`Lease ${namespace}/${name}`);
  }
  await removeObjects(
    owned.filter((one) => !isDeployment(one)),
    context,
  );
  const removed = [...objectsIn(owned).map(nameOf), ...leases];
  const left = helmReleasesOf(await findOwned({ namespace }, findKind, context)).map(({ name }) => name);
  return { removed, helmReleases: helmReleasesOf(owned).filter(({ name }) => !left.includes(name)) };
};

const othersBeside = (
  owned: readonly OwnedObject[],
  namespace: string,
  context: InstallContext,
): Promise<readonly string[]> => findOtherProbers(namespace, objectsIn(owned.filter(isDeployment)), context);

/** Minimum time for the removal, even if the release has used up the timeout. */
const removalMs = 60_000;

interface HeldResult extends Released {
  readonly others: readonly string[];
}

const linesOf = (held: readonly string[]): readonly string[] => held.map((name) => `${name} is held at 0`);

/** Releases the resources that the installed prober holds, unless another prober would scale them down again. */
const releaseInstalled = async (
  ours: readonly OwnedObject[],
  options: UninstallOptions,
  context: InstallContext,
): Promise<HeldResult> => {
  const { force, dryRun } = options;
  const objects = objectsIn(ours);
  const others = await othersBeside(ours, options.namespace, context);
  if (others.length === 0) {
    const released = await (dryRun ? options.release(objects, context) : releaseFirst(ours, options, context));
    return { ...released, others };
  }
  const left = linesOf(await options.listHeld(objects, context));
  if (left.length === 0 || force || dryRun) return { restored: [], left, others };
  throw new InstallError('some resources are held at 0, and another prober is active; nothing was removed', [
    ...left,
    ...others,
    'wait until the outage is over, or remove the installation anyway with --force: resources that the other prober does not configure then stay at 0',
  ]);
};

/** Handles held resources if no prober is installed. Throws an InstallError, unless forced or in a dry run, if no other prober would restore them. */
const checkHeldWithoutProber = async (options: UninstallOptions, context: InstallContext): Promise<HeldResult> => {
  const { namespace, force, dryRun } = options;
  await refuseUnlabelled(namespace, context);
  const nothing = { restored: [], left: [], others: [] };
  const left = linesOf(await options.listHeld([], context));
  if (left.length === 0 || (await othersBeside([], namespace, context)).length > 0) return nothing;
  if (force || dryRun) return { ...nothing, left };
  throw new InstallError(
    'some resources are held at 0, and no prober was found that would restore them; nothing was removed',
    [
      ...left,
      'run dwd install with the configuration that names them, then dwd uninstall again; or continue anyway with --force',
    ],
  );
};

/**
 * Restores held resources, then removes all objects that any version has installed of these components. Throws an InstallError, and removes nothing,
 * if a resource would stay at 0. Beside another prober it restores nothing, because that one would scale it down again.
 */
export const uninstall = async (options: UninstallOptions, context: InstallContext): Promise<Uninstalled> => {
  const { namespace, components, dryRun } = options;
  const findKind = createFindKind(context);
  const owned = await findOwned({ namespace, components }, findKind, context);
  const ours = owned.filter((one) => componentOf(one) === 'prober');
  if (ours.length > 0 && !dryRun) await untilOrphansEnded(ours, namespace, context);
  const handleHeld = () =>
    ours.length > 0 ? releaseInstalled(ours, options, context) : checkHeldWithoutProber(options, context);
  const held = components.includes('prober') ? await handleHeld() : { restored: [], left: [], others: [] };
  if (dryRun) return { ...held, removed: objectsIn(owned).map(nameOf), helmReleases: [] };
  const deadline = Math.max(context.deadline, context.clock.monotonic() + removalMs);
  // Another prober keeps its Lease.
  const ownLeases = new Map([...leaseNames].filter(([one]) => one !== 'prober' || held.others.length === 0));
  try {
    const gone = await removeAll({ namespace, components, ownLeases }, findKind, { ...context, deadline });
    return { ...held, ...gone };
  } catch (error) {
    if (ours.length === 0 || held.others.length > 0) throw error;
    const details = error instanceof InstallError ? [error.message, ...error.details] : [String(error)];
    throw new InstallError('the removal was not finished; the prober no longer runs, and no shoot is protected', [
      ...details,
      'run dwd uninstall again, or dwd install to restore the protection',
    ]);
  }
};
