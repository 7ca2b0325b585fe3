import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { componentNames } from '../config/index.ts';
import { unlessNotFound } from '../kubernetes/api/errors.ts';
import { type ElectionLease, podOfHolder } from '../kubernetes/api/lease.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { getElectionLease } from '../kubernetes/leaderelection/index.ts';
import { leaseNameOf } from '../process/index.ts';
import { type ServedKindPath, deleteObject } from './calls.ts';
import { type InstallContext, InstallError, callOptions, poll } from './context.ts';
import { podsOf } from './inventory.ts';
import { type KubeObject, nameOf } from './object.ts';

/** Name of the leader election Lease of each component. */
export const leaseNames: ReadonlyMap<string, string> = new Map(componentNames.map((name) => [name, leaseNameOf(name)]));

/** Reads a Lease. Returns undefined if it does not exist. */
export const readLease = async (at: NamespacedName, context: InstallContext): Promise<ElectionLease | undefined> =>
  (await unlessNotFound(context.client.call(getElectionLease(at), callOptions(context))))?.value;

export interface LeaderWait {
  readonly deployment: KubeObject;
  /** Name of the Lease, which is in the namespace of the Deployment. */
  readonly leaseName: string;
}

/** Waits until a pod of the Deployment holds the Lease. Returns its name. Throws an InstallError that names the holder. */
export const untilLed = async ({ deployment, leaseName }: LeaderWait, context: InstallContext): Promise<string> => {
  const { namespace = '' } = deployment.metadata;
  let holder = '';
  const leader = await poll(context, async () => {
    holder = (await readLease({ namespace, name: leaseName }, context))?.holder ?? '';
    context.progress(`waiting for ${deployment.metadata.name} to lead; Lease ${leaseName}: ${holder || 'no holder'}`);
    const pods = (await podsOf(deployment, context)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return pods.map(({ metadata }) => metadata.name).find((name) => name === podOfHolder(holder));
  });
  if (leader !== undefined) return leader;
  const held = holder === '' ? 'has no holder' : `is held by ${holder}, which is not a pod of ${nameOf(deployment)}`;
  throw new InstallError('no leader in time', [`Lease ${namespace}/${leaseName} ${held}`]);
};

export const leasesAt: ServedKindPath = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
};

/**
 * Removes the Lease of our replicas. Keeps it if the pod that holds it still exists: then it is another program's, because gardenlet's watchdog elects
 * its leader with a Lease of the same name. Returns true if it was removed.
 */
export const removeLease = async (at: NamespacedName, context: InstallContext): Promise<boolean> => {
  const lease = await readLease(at, context);
  if (lease === undefined) return false;
  if (lease.holder !== '' && (await podExists(at.namespace, podOfHolder(lease.holder), context))) return false;
  const { apiVersion, kind } = leasesAt;
  const object: KubeObject = { apiVersion, kind, metadata: { ...at, uid: lease.uid } };
  await context.client.call(deleteObject(leasesAt, object), callOptions(context));
  return true;
};

const podExists = async (namespace: string, name: string, context: InstallContext): Promise<boolean> => {
  const path = resourcePath({ apiVersion: 'v1', resource: 'pods', namespace, name });
  const call = { method: 'GET', path, decode: () => true } as const;
  return (await unlessNotFound(context.client.call(call, callOptions(context)))) !== undefined;
};
