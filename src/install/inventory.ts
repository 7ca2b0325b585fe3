import { unlessNotFound } from '../kubernetes/api/errors.ts';
import { type ServedKindPath, deleteObject, listObjects } from './calls.ts';
import { type InstallContext, callOptions, poll } from './context.ts';
import { type FindKind, createFindKind, everInstalled, removalRank } from './kinds.ts';
import { type KubeObject, componentLabel, identityOf, installationSelector, nameOf } from './object.ts';

/** An object of an installation, as it is in the cluster. */
export interface OwnedObject {
  readonly object: KubeObject;
  readonly at: ServedKindPath;
}

export interface InventoryOptions {
  /** Namespace of the installation. */
  readonly namespace: string;
  /** Components to find the objects of. Default: all. */
  readonly components?: readonly string[];
  /** Objects of this version, whose kinds may be new. */
  readonly objects?: readonly KubeObject[];
}

/** Finds all objects that any version has installed of these components, in the order of removal. Throws an ApiError. */
export const findOwned = async (
  { namespace, components, objects = [] }: InventoryOptions,
  findKind: FindKind,
  context: InstallContext,
): Promise<readonly OwnedObject[]> => {
  const kinds = new Map([...everInstalled, ...objects].map((kind) => [`${kind.apiVersion}/${kind.kind}`, kind]));
  const ofComponents = components === undefined ? '' : ` in (${components.join(',')})`;
  const labelSelector = `${installationSelector(namespace)},${componentLabel}${ofComponents}`;
  const owned: OwnedObject[] = [];
  for (const kind of kinds.values()) {
    const at = await findKind(kind);
    if (at === undefined) continue;
    const { value } = await context.client.call(
      listObjects(at, { labelSelector, ...(at.namespaced ? { namespace } : {}) }),
      callOptions(context),
    );
    owned.push(...value.map((object) => ({ object, at })));
  }
  return owned.toSorted((a, b) => removalRank(a.object) - removalRank(b.object));
};

/** Lists the objects of these components as they are in the cluster. Throws an ApiError. */
export const listInstalled = async (
  options: Pick<InventoryOptions, 'namespace' | 'components'>,
  context: InstallContext,
): Promise<readonly KubeObject[]> =>
  (await findOwned(options, createFindKind(context), context)).map(({ object }) => object);

/** Returns the objects of older versions that this version does not have. */
export const outdatedOf = (owned: readonly OwnedObject[], objects: readonly KubeObject[]): readonly OwnedObject[] => {
  const wanted = new Set(objects.map(identityOf));
  return owned.filter(({ object }) => !wanted.has(identityOf(object)));
};

/** Removes objects in the given order. */
export const removeObjects = async (owned: readonly OwnedObject[], context: InstallContext): Promise<void> => {
  for (const { object, at } of owned) {
    context.progress(`removing ${nameOf(object)}`);
    await unlessNotFound(context.client.call(deleteObject(at, object), callOptions(context)));
  }
};

const podsAt: ServedKindPath = { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespaced: true };

export const selectorOf = (deployment: KubeObject): string => {
  const { selector } = deployment.spec as { readonly selector?: { readonly matchLabels?: Record<string, string> } };
  return Object.entries(selector?.matchLabels ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
};

/** Lists the pods of a Deployment, including terminating ones. Pods that have ended, such as evicted ones, which stay for long, are left out. */
export const podsOf = async (deployment: KubeObject, context: InstallContext): Promise<readonly KubeObject[]> => {
  const { namespace = '' } = deployment.metadata;
  const fieldSelector = 'status.phase!=Failed,status.phase!=Succeeded';
  const call = listObjects(podsAt, { labelSelector: selectorOf(deployment), fieldSelector, namespace });
  return (await context.client.call(call, callOptions(context))).value;
};

/** Waits until these Deployments have no pods, and so write nothing any more. Returns the names of the pods that are left at the deadline. */
export const untilStopped = async (
  deployments: readonly KubeObject[],
  context: InstallContext,
): Promise<readonly string[]> => {
  let left: readonly string[] = [];
  await poll(context, async () => {
    const pods = await Promise.all(deployments.map((deployment) => podsOf(deployment, context)));
    left = pods.flat().map(nameOf);
    if (left.length === 0) return true;
    context.progress(`waiting for pods to end: ${String(left.length)}`);
    return undefined;
  });
  return left;
};
