import { optionalInteger, optionalObject } from '../domain/index.ts';
import { scaleDeployment } from './calls.ts';
import { callOptions, InstallError, type InstallContext } from './context.ts';
import { type HelmRelease, helmReleasesOf } from './helm.ts';
import { findOwned, type OwnedObject, removeObjects, untilStopped } from './inventory.ts';
import { createFindKind, type FindKind } from './kinds.ts';
import { removeLease } from './leader.ts';
import { componentLabel, type KubeObject, nameOf } from './object.ts';
import { findOtherProbers } from './other-prober.ts';
import { refuseUnlabelled } from './unlabelled.ts';

/** What is still at 0, and why, in words. */
export type LeftHeld = readonly string[];

export interface UninstallOptions {
  /** Of the installation. */
  readonly namespace: string;
  readonly components: readonly string[];
  /** By component, of those that elect a leader. */
  readonly leaseNames: ReadonlyMap<string, string>;
  /** The component whose pods scale down, and which may hold something at 0. */
  readonly scaling: string;
  /** Removes all the same when something stays at 0. */
  readonly force: boolean;
  readonly dryRun: boolean;
  /** Restores what is held, given the objects of the component that scales. Called while none of its pods runs. */
  readonly release: (owned: readonly KubeObject[], context: InstallContext) => Promise<Released>;
}

export interface Released {
  /** Restored, or in a dry run to be restored: `Deployment shoot--a--b/kube-controller-manager`. */
  readonly restored: readonly string[];
  readonly left: LeftHeld;
}

export interface Uninstalled extends Released {
  readonly removed: readonly string[];
  /** Other probers, a line each: what is held is theirs, and nothing was restored. */
  readonly others: readonly string[];
  /** Releases of Helm that have none of their objects left, but their record. */
  readonly helmReleases: readonly HelmRelease[];
}

const isDeployment = ({ object }: OwnedObject): boolean => object.kind === 'Deployment';

export /** How many pods it is to have again: at 0, an uninstallation before this one was killed, and one pod protects. */
const replicasOf = ({ spec }: KubeObject): number =>
  Math.max(1, optionalInteger(optionalObject(spec, 'deployment.spec')?.replicas, 'deployment.spec.replicas') ?? 1);

const scale = async (deployment: KubeObject, replicas: number, context: InstallContext): Promise<void> => {
  context.progress(`scaling ${nameOf(deployment)} to ${String(replicas)}`);
  await context.client.call(scaleDeployment(deployment, replicas), callOptions(context));
};

/** While `work` goes on no pod of these Deployments runs; unless it succeeds, they run again as before. */
const whileStopped = async <T>(
  deployments: readonly KubeObject[],
  context: InstallContext,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    for (const deployment of deployments) await scale(deployment, 0, context);
    const left = await untilStopped(deployments, context);
    if (left.length > 0) throw new InstallError('pods have not ended in time', left);
    return await work();
  } catch (error) {
    await startAgain(deployments, context);
    throw error;
  }
};

/** Not by the signal that may have ended the work: protection is to be back in any case. */
const startAgain = async (deployments: readonly KubeObject[], context: InstallContext): Promise<void> => {
  const again = { ...context, signal: new AbortController().signal };
  for (const deployment of deployments) {
    try {
      await scale(deployment, replicasOf(deployment), again);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new InstallError(`${nameOf(deployment)} is at 0 replicas, and protects nobody: run dwd install`, [problem]);
    }
  }
};

const releaseFirst = async (
  owned: readonly OwnedObject[],
  { release, force }: UninstallOptions,
  context: InstallContext,
): Promise<Released> => {
  return whileStopped(objectsIn(owned.filter(isDeployment)), context, async () => {
    const released = await release(objectsIn(owned), context);
    if (released.left.length > 0 && !force) {
      throw new InstallError('something would stay at 0 replicas; nothing was removed, and the prober runs again', [
        ...released.left,
        'mend what keeps it down, or remove all the same with --force',
      ]);
    }
    return released;
  });
};

const componentOf = ({ object }: OwnedObject): string => object.metadata.labels?.[componentLabel] ?? '';

/** The Deployments that somebody has removed before, as `helm uninstall` does: their pods go on until they have been found and ended. */
const goneOf = (owned: readonly OwnedObject[], namespace: string): readonly KubeObject[] => {
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

/** Throws an InstallError where a pod of theirs is left: it would scale down what is restored. */
const untilGoneEnded = async (
  owned: readonly OwnedObject[],
  namespace: string,
  context: InstallContext,
): Promise<void> => {
  const left = await untilStopped(goneOf(owned, namespace), context);
  if (left.length > 0) throw new InstallError('pods of a Deployment that is gone have not ended in time', left);
};

const objectsIn = (owned: readonly OwnedObject[]): readonly KubeObject[] => owned.map(({ object }) => object);

/** What runs first, and only when it has ended what it needs: a pod gives back its Lease with the rights that it has. */
const removeAll = async (
  { namespace, components, leaseNames }: UninstallOptions,
  findKind: FindKind,
  context: InstallContext,
): Promise<Pick<Uninstalled, 'removed' | 'helmReleases'>> => {
  // Read anew: Deployments have been scaled.
  const owned = await findOwned({ namespace, components }, findKind, context);
  const deployments = owned.filter(isDeployment);
  await removeObjects(deployments, context);
  const running = await untilStopped([...objectsIn(deployments), ...goneOf(owned, namespace)], context);
  if (running.length > 0) throw new InstallError('pods have not ended in time; run it again', running);
  const leases: string[] = [];
  for (const component of new Set(owned.map(componentOf))) {
    const name = leaseNames.get(component);
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

const othersBeside = async (
  owned: readonly OwnedObject[],
  { namespace, leaseNames, scaling }: UninstallOptions,
  context: InstallContext,
): Promise<readonly string[]> => {
  const leaseName = leaseNames.get(scaling);
  if (leaseName === undefined) return [];
  return findOtherProbers({ namespace, leaseName }, objectsIn(owned.filter(isDeployment)), context);
};

/** Of what comes after a release that took all its time. */
const removalMs = 60_000;

/**
 * Restores what is held, then removes all that any version has installed of these components. Throws an InstallError where something would stay
 * at 0: then nothing is removed. Beside another prober, whose is what is held, it only removes.
 */
export const uninstall = async (options: UninstallOptions, context: InstallContext): Promise<Uninstalled> => {
  const { namespace, components, scaling, dryRun } = options;
  const findKind = createFindKind(context);
  const owned = await findOwned({ namespace, components }, findKind, context);
  const ofScaling = owned.filter((one) => componentOf(one) === scaling);
  if (ofScaling.length > 0 && !dryRun) await untilGoneEnded(ofScaling, namespace, context);
  if (ofScaling.length === 0 && components.includes(scaling)) {
    await refuseUnlabelled(namespace, context);
  }
  const others = ofScaling.length > 0 ? await othersBeside(ofScaling, options, context) : [];
  // What is held where none of ours is installed is held by another; what we restored beside one, it would scale down again.
  const isOurs = ofScaling.length > 0 && others.length === 0;
  const nothing = { restored: [], left: [] };
  if (dryRun) {
    const held = isOurs ? await options.release(objectsIn(ofScaling), context) : nothing;
    return { ...held, others, removed: objectsIn(owned).map(nameOf), helmReleases: [] };
  }
  const released = isOurs ? await releaseFirst(ofScaling, options, context) : nothing;
  const deadline = Math.max(context.deadline, context.clock.monotonic() + removalMs);
  const leaseNames = others.length > 0 ? new Map<string, string>() : options.leaseNames;
  try {
    return {
      ...released,
      others,
      ...(await removeAll({ ...options, leaseNames }, findKind, { ...context, deadline })),
    };
  } catch (error) {
    if (!isOurs) throw error;
    const details = error instanceof InstallError ? [error.message, ...error.details] : [String(error)];
    throw new InstallError(`the removal was not finished; the ${scaling} no longer runs, and protects nobody`, [
      ...details,
      'run dwd uninstall again, or dwd install to be protected again',
    ]);
  }
};
