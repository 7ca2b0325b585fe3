import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { Call } from '../kubernetes/api/call.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import {
  type DaemonSetHealth,
  type DeploymentHealth,
  type StatefulSetHealth,
  decodeDaemonSetHealth,
  decodeDeploymentHealth,
  decodeStatefulSetHealth,
} from './health-workloads.ts';
import { type ManagedResourceHealth, decodeManagedResourceHealth } from './managed-resource.ts';

const objectGetter =
  <T>(apiVersion: string, resource: string, decode: (json: unknown, path: string) => T) =>
  ({ namespace, name }: NamespacedName): Call<T> => ({
    method: 'GET',
    path: resourcePath({ apiVersion, resource, namespace, name }),
    decode: (json) => decode(json, resource),
  });

export const getDeploymentHealth = objectGetter<DeploymentHealth>('apps/v1', 'deployments', decodeDeploymentHealth);
export const getStatefulSetHealth = objectGetter<StatefulSetHealth>('apps/v1', 'statefulsets', decodeStatefulSetHealth);
export const getDaemonSetHealth = objectGetter<DaemonSetHealth>('apps/v1', 'daemonsets', decodeDaemonSetHealth);
export const getManagedResourceHealth = objectGetter<ManagedResourceHealth>(
  'resources.gardener.cloud/v1alpha1',
  'managedresources',
  decodeManagedResourceHealth,
);
