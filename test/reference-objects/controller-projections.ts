import { getScalable, getScale } from '../../src/kubernetes/api/scalable.ts';
import { decodeCluster } from '../../src/gardener/cluster.ts';
import { decodeMachine } from '../../src/gardener/machine.ts';
import { listNodeHealth, listNodes } from '../../src/gardener/node.ts';
import { decodeLease, listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import { decodeEndpointSlice } from '../../src/kubernetes/api/endpoint-slice.ts';
import { decodePod } from '../../src/kubernetes/api/pod.ts';
import { decodeCareCluster, decodeGardenShoot } from '../../src/gardener/care-shoots.ts';
import { otherConditionWriter } from '../../src/care/condition-writers.ts';
import { mergeConditions } from '../../src/gardener/condition.ts';
import { decodeControlPlaneDeployment } from '../../src/gardener/workloads.ts';
import { decodeEtcdHealth } from '../../src/gardener/etcd.ts';
import { decodeManagedResourceHealth } from '../../src/gardener/managed-resource.ts';
import { decodeMachineDeploymentHealth } from '../../src/gardener/machine-deployment.ts';
import {
  careExtensionKinds,
  decodeControllerInstallation,
  decodeControllerRegistration,
  decodeExtensionReport,
} from '../../src/gardener/extensions.ts';
import { listNodeLeaseExpiries, listTunnelPods } from '../../src/care/observe/shoot.ts';
import { decodeNamespace } from '../../src/prober/clusters/cluster-source.ts';
import { decodeClusterSecret } from '../../src/prober/clusters/secret.ts';
import { decodeKubeconfigSecret } from '../../src/kubernetes/kubeconfig/untrusted.ts';
import { type Projection, object, ofOtherConditions } from './projection.ts';

const target = {
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'name' },
  resource: 'deployments',
  namespace: 'ns',
};

const firstOf = (list: unknown): unknown => (list as { readonly items: readonly unknown[] }).items[0];

const scalable = (kind: string): Projection => ({
  name: `${kind} as a dependent`,
  kind,
  project: getScalable(target).decode,
});

const prober: readonly Projection[] = [
  {
    name: 'Cluster of the prober',
    kind: 'Cluster',
    project: (json) => {
      const { name, shoot } = decodeCluster(json, 'cluster');
      return { name, shoot: shoot.ok ? shoot.value : undefined };
    },
  },
  { name: 'Machine', kind: 'Machine', project: object(decodeMachine) },
  {
    name: 'nodes of the prober',
    kind: 'NodeList',
    project: listNodes.decode,
    set: {
      'items[].status.conditions[].type': 'InPlaceUpdate',
      'items[].status.conditions[].reason': 'ReadyForUpdate',
      'items[].status.conditions[].status': 'True',
      'items[].spec.taints[].key': 'ToBeDeletedByClusterAutoscaler',
    },
  },
  { name: 'leases of the prober', kind: 'LeaseList', project: listNodeLeases.decode },
  ...['Deployment', 'StatefulSet', 'ReplicaSet', 'Etcd'].map(scalable),
  { name: 'Scale', kind: 'Scale', project: getScale(target).decode },
  { name: 'Secret with a kubeconfig', kind: 'Secret', project: object(decodeKubeconfigSecret) },
  { name: 'Secret of a cluster', kind: 'Secret', project: (json) => decodeClusterSecret('kubeconfig', json, 'object') },
  // Its pause is an annotation of ours.
  {
    name: 'Namespace of a cluster',
    kind: 'Namespace',
    project: object((json, path) => ({ deleting: decodeNamespace(json, path).deleting })),
  },
];

const statusLists = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

const weeder: readonly Projection[] = [
  {
    name: 'EndpointSlice of the weeder',
    kind: 'EndpointSlice',
    project: object(decodeEndpointSlice),
    set: {
      'endpoints[].conditions.terminating': false,
      'metadata.labels.*': 'endpointslicemirroring-controller.k8s.io',
    },
  },
  {
    name: 'Pod of the weeder',
    kind: 'Pod',
    project: object(decodePod),
    set: Object.fromEntries(
      statusLists.map((list) => [`status.${list}[].state.waiting.reason`, 'CrashLoopBackOff'] as const),
    ),
  },
];

const gardenShoot = (json: unknown): unknown => {
  const { metadata, storedConditions: stored, ...shoot } = decodeGardenShoot(json);
  const writer = otherConditionWriter(metadata, { own: '', since: 0, conditions: shoot.shoot.conditions });
  return { ...shoot, writer, merged: mergeConditions(stored, [], []), isMet: metadata.uid !== undefined };
};

const care: readonly Projection[] = [
  {
    name: 'Cluster of care',
    kind: 'Cluster',
    project: (json) => {
      const { shoot, ...cluster } = decodeCareCluster(json, 'cluster');
      return { ...cluster, shoot: shoot.ok ? shoot.value : undefined };
    },
  },
  {
    name: 'Shoot in the garden',
    kind: 'Shoot',
    project: gardenShoot,
    set: { 'status.conditions[].type': 'ControlPlaneHealthy' },
  },
  {
    name: 'Deployment of care',
    kind: 'Deployment',
    project: object(decodeControlPlaneDeployment),
    set: { 'status.conditions[].type': 'Available', 'status.conditions[].status': 'False' },
    exceptions: ofOtherConditions('codes'),
  },
  {
    name: 'Etcd of care',
    kind: 'Etcd',
    project: object(decodeEtcdHealth),
    set: { 'status.conditions[].type': 'BackupReady', 'status.conditions[].status': 'False' },
    exceptions: ofOtherConditions('codes'),
  },
  { name: 'ManagedResource of care', kind: 'ManagedResource', project: object(decodeManagedResourceHealth) },
  {
    name: 'MachineDeployment of care',
    kind: 'MachineDeployment',
    project: object(decodeMachineDeploymentHealth),
    set: { 'status.conditions[].type': 'Available', 'status.conditions[].status': 'False' },
    exceptions: { ...ofOtherConditions('codes'), empty: ['rollingOut'] },
  },
  ...careExtensionKinds.map(({ kind }) => ({
    name: `${kind} of care`,
    kind,
    project: object(decodeExtensionReport),
  })),
  {
    name: 'ControllerRegistration of care',
    kind: 'ControllerRegistration',
    project: object(decodeControllerRegistration),
  },
  {
    name: 'ControllerInstallation of care',
    kind: 'ControllerInstallation',
    project: object(decodeControllerInstallation),
  },
  { name: 'heartbeat of care', kind: 'LeaseList', project: (json) => decodeLease(firstOf(json), 'lease') },
  {
    name: 'nodes of care',
    kind: 'NodeList',
    project: listNodeHealth.decode,
    set: { 'items[].metadata.annotations.*': '1' },
    // A node of upstream's is healthy.
    exceptions: { empty: ['0.problem'] },
  },
  { name: 'leases of care', kind: 'LeaseList', project: listNodeLeaseExpiries.decode },
  {
    name: 'Pod of the tunnel',
    kind: 'Pod',
    project: (json) => listTunnelPods.decode({ kind: 'PodList', items: [json] }),
    set: { 'status.phase': 'Running' },
  },
];

/** Projections with which the components read the objects that they watch and request. */
export const controllerProjections: readonly Projection[] = [...prober, ...weeder, ...care];
