import type { Call } from '../kubernetes/api/call.ts';
import { listCall, lookBounds, nodeHealthListBounds, nodePageSize } from '../kubernetes/api/list-call.ts';
import { nodeHealthListType, workerNodeListType } from './care-protobuf.ts';
import {
  type MachineDeploymentHealth,
  type NodeHealth,
  type WorkerNode,
  decodeMachineDeploymentHealth,
  decodeNodeHealth,
  decodeWorkerNode,
} from './health-nodes.ts';
import {
  type DaemonSetHealth,
  type DeploymentHealth,
  type StatefulSetHealth,
  decodeDaemonSetHealth,
  decodeDeploymentHealth,
  decodeStatefulSetHealth,
} from './health-workloads.ts';
import { type MachineProgress, decodeMachineProgress } from './machine-scaling.ts';
import { type ManagedResourceHealth, decodeManagedResourceHealth } from './managed-resource.ts';

export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

const collection = (groupVersion: string, namespace: string, resource: string): string =>
  `/apis/${groupVersion}/namespaces/${encodeURIComponent(namespace)}/${resource}`;

const objectGetter =
  <T>(groupVersion: string, resource: string, decode: (json: unknown, path: string) => T) =>
  ({ namespace, name }: NamespacedName): Call<T> => ({
    method: 'GET',
    path: `${collection(groupVersion, namespace, resource)}/${encodeURIComponent(name)}`,
    decode: (json) => decode(json, resource),
  });

const lister =
  <T>(resource: string, decode: (json: unknown, path: string) => T) =>
  (namespace: string): Call<readonly T[]> =>
    listCall({ path: collection('machine.sapcloud.io/v1alpha1', namespace, resource), decode });

export const getDeploymentHealth = objectGetter<DeploymentHealth>('apps/v1', 'deployments', decodeDeploymentHealth);
export const getStatefulSetHealth = objectGetter<StatefulSetHealth>('apps/v1', 'statefulsets', decodeStatefulSetHealth);
export const getDaemonSetHealth = objectGetter<DaemonSetHealth>('apps/v1', 'daemonsets', decodeDaemonSetHealth);
export const getManagedResourceHealth = objectGetter<ManagedResourceHealth>(
  'resources.gardener.cloud/v1alpha1',
  'managedresources',
  decodeManagedResourceHealth,
);

export const listMachineDeploymentHealth = lister<MachineDeploymentHealth>(
  'machinedeployments',
  decodeMachineDeploymentHealth,
);
export const listMachineProgress = lister<MachineProgress>('machines', decodeMachineProgress);

export const listNodeHealth: Call<readonly NodeHealth[]> = listCall({
  path: '/api/v1/nodes',
  kind: 'NodeList',
  decode: decodeNodeHealth,
  protobuf: nodeHealthListType,
  nameOf: ({ meta }) => meta.name,
  pageSize: nodePageSize,
  bounds: nodeHealthListBounds,
});

/** As `listNodeHealth`, with no more of each node than a shoot is judged by. */
export const listWorkerNodes: Call<readonly WorkerNode[]> = listCall({
  path: '/api/v1/nodes',
  kind: 'NodeList',
  decode: decodeWorkerNode,
  protobuf: workerNodeListType,
  nameOf: ({ meta }) => meta.name,
  pageSize: nodePageSize,
  bounds: lookBounds.nodes,
});
