import * as domain from '../../src/domain/index.ts';
import { decodeClusterState } from '../../src/healthcheck/cluster-watch.ts';
import { decodeExtension, storedConditions } from '../../src/healthcheck/extension.ts';
import { decodeKubeconfigSecret } from '../../src/kube/index.ts';
import type { Exceptions, Projection } from './projection.ts';

const at = { namespace: 'ns', name: 'name' };
const target = {
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'name' },
  resource: 'deployments',
  namespace: 'ns',
};

/** Of one object, such as a watch brings it. */
const object =
  <T>(decode: (json: unknown, path: string) => T) =>
  (json: unknown): T =>
    decode(json, 'object');

const firstOf = (list: unknown): unknown => (list as { readonly items: readonly unknown[] }).items[0];

/** All conditions are read by the reader of gardener's, which has more fields than some others. */
const ofOtherConditions = (...fields: readonly string[]): Exceptions => ({
  missing: fields.map((field) => `status.conditions[].${field}`),
  empty: fields.includes('lastUpdateTime') ? ['conditions.0.lastUpdateTime'] : [],
});

const scalable = (kind: string): Projection => ({
  name: `${kind} as a dependent`,
  kind,
  project: domain.getScalable(target).decode,
});

const prober: readonly Projection[] = [
  {
    name: 'Cluster of the prober',
    kind: 'Cluster',
    project: (json) => {
      const { name, shoot } = domain.decodeCluster(json, 'cluster');
      return { name, shoot: shoot.ok ? shoot.value : undefined };
    },
  },
  { name: 'Machine of the prober', kind: 'Machine', project: object(domain.decodeMachine) },
  {
    name: 'nodes of the prober',
    kind: 'NodeList',
    project: domain.listNodes.decode,
    set: {
      'items[].status.conditions[].type': 'InPlaceUpdate',
      'items[].status.conditions[].reason': 'ReadyForUpdate',
    },
  },
  { name: 'leases of the prober', kind: 'LeaseList', project: domain.listNodeLeases.decode },
  ...['Deployment', 'StatefulSet', 'ReplicaSet', 'Etcd'].map(scalable),
  { name: 'Scale', kind: 'Scale', project: domain.getScale(target).decode },
  { name: 'Secret with a kubeconfig', kind: 'Secret', project: object(decodeKubeconfigSecret) },
];

const statusLists = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

const weeder: readonly Projection[] = [
  {
    name: 'EndpointSlice of the weeder',
    kind: 'EndpointSlice',
    project: object(domain.decodeEndpointSlice),
    set: { 'endpoints[].conditions.terminating': false },
  },
  {
    name: 'Pod of the weeder',
    kind: 'Pod',
    project: object(domain.decodePod),
    set: Object.fromEntries(
      statusLists.map((list) => [`status.${list}[].state.waiting.reason`, 'CrashLoopBackOff'] as const),
    ),
  },
];

const gardenShoot = (json: unknown): unknown => {
  const { metadata, storedConditions: stored, ...shoot } = domain.decodeGardenShoot(json);
  const writer = domain.otherConditionWriter(metadata, { own: '', now: 0 });
  return { ...shoot, writer, merged: domain.mergeShootConditions(stored, []), isMet: metadata.uid !== undefined };
};

const care: readonly Projection[] = [
  {
    name: 'Cluster of care',
    kind: 'Cluster',
    project: (json) => {
      const { shoot, ...cluster } = domain.decodeCareCluster(json, 'cluster');
      return { ...cluster, shoot: shoot.ok ? shoot.value : undefined };
    },
  },
  { name: 'Deployment of the API server', kind: 'Deployment', project: object(domain.decodeAvailableReplicas) },
  { name: 'Shoot in the garden', kind: 'Shoot', project: gardenShoot },
  {
    name: 'Deployment of care',
    kind: 'Deployment',
    project: object(domain.decodeControlPlaneDeployment),
    exceptions: ofOtherConditions('codes'),
  },
  {
    name: 'Etcd of care',
    kind: 'Etcd',
    project: object(domain.decodeEtcdHealth),
    exceptions: ofOtherConditions('codes'),
  },
  { name: 'ManagedResource of care', kind: 'ManagedResource', project: object(domain.decodeManagedResourceHealth) },
  {
    name: 'MachineDeployment of care',
    kind: 'MachineDeployment',
    project: object(domain.decodeMachineDeploymentHealth),
    exceptions: ofOtherConditions('codes'),
  },
  { name: 'Machine of care', kind: 'Machine', project: object(domain.decodeMachineProgress) },
  ...domain.careExtensionKinds.map(({ kind }) => ({
    name: `${kind} of care`,
    kind,
    project: object(domain.decodeExtensionReport),
  })),
  {
    name: 'ControllerRegistration of care',
    kind: 'ControllerRegistration',
    project: object(domain.decodeControllerRegistration),
  },
  {
    name: 'ControllerInstallation of care',
    kind: 'ControllerInstallation',
    project: object(domain.decodeControllerInstallation),
  },
  { name: 'heartbeat of care', kind: 'LeaseList', project: (json) => domain.decodeHeartbeat(firstOf(json), 'lease') },
  {
    name: 'worker nodes of care',
    kind: 'NodeList',
    project: domain.listWorkerNodes.decode,
    set: { 'items[].metadata.annotations.*': '1' },
    exceptions: {
      missing: [
        'items[].status.conditions[].codes',
        'items[].status.conditions[].lastUpdateTime',
        'items[].status.observedGeneration',
      ],
      // Words are kept of a condition that is wrong, and of no other.
      empty: ['lastTransitionTime', 'lastUpdateTime', 'message', 'reason'].map((field) => `0.conditions.0.${field}`),
    },
  },
  {
    name: 'nodes of care',
    kind: 'NodeList',
    project: domain.listNodeHealth.decode,
    set: { 'items[].metadata.annotations.*': '1' },
    exceptions: {
      missing: [
        'items[].status.conditions[].codes',
        'items[].status.conditions[].lastUpdateTime',
        // What has conditions is read by one reader; of a node nobody looks at its generation.
        'items[].status.observedGeneration',
      ],
      empty: ['0.conditions.0.lastUpdateTime', '0.observedGeneration'],
    },
  },
  { name: 'leases of care', kind: 'LeaseList', project: domain.listNodeLeaseExpiries.decode },
  {
    name: 'Pod of the tunnel',
    kind: 'Pod',
    project: (json) => domain.listTunnelPods.decode({ kind: 'PodList', items: [json] }),
    set: { 'status.phase': 'Running' },
  },
];

const library: readonly Projection[] = [
  ...[...domain.careExtensionKinds.map(({ kind }) => kind), 'Bastion', 'DNSRecord'].map((kind) => ({
    name: `${kind} of the library`,
    kind,
    project: (json: unknown) => {
      const extension = decodeExtension(json, 'object');
      const { object: _whole, ...view } = extension;
      const stored = domain.withoutConditionTypes(storedConditions(extension), ['Old']);
      return { ...view, merged: domain.mergeConditionsByType(stored, []) };
    },
  })),
  {
    name: 'Cluster of the library',
    kind: 'Cluster',
    project: object(decodeClusterState),
    set: { 'spec.shoot.status.lastOperation.type': 'Migrate' },
  },
  {
    name: 'Deployment of the library',
    kind: 'Deployment',
    project: domain.getDeploymentHealth(at).decode,
    exceptions: ofOtherConditions('codes'),
  },
  {
    name: 'StatefulSet of the library',
    kind: 'StatefulSet',
    project: domain.getStatefulSetHealth(at).decode,
    exceptions: ofOtherConditions('codes', 'lastUpdateTime'),
  },
  {
    name: 'DaemonSet of the library',
    kind: 'DaemonSet',
    project: domain.getDaemonSetHealth(at).decode,
    set: { 'spec.updateStrategy.type': 'RollingUpdate' },
    exceptions: ofOtherConditions('codes', 'lastUpdateTime'),
  },
];

/** How the controllers and the library read what they watch and ask for. */
export const controllerProjections: readonly Projection[] = [...prober, ...weeder, ...care, ...library];
