import {
  type JsonMap,
  type SimDraft,
  type SimKind,
  type SimStore,
  careKinds,
  extensionKinds,
  formatTime,
  simKinds,
} from '../apiserver/index.ts';
import type { ActorDeps } from './actor.ts';
import { deploymentObject, etcdMain, kubeScheduler } from './components.ts';
import { type ShootInit, backupEntryName, nodesOf, poolName, technicalName } from './objects.ts';
import { withStatus } from './workloads.ts';

/** An object to create, with its kind. */
interface PlacedObject {
  readonly kind: SimKind;
  readonly draft: SimDraft;
}

const controlPlaneRole = 'controlplane';
const monitoringRole = 'monitoring';

/** Deployments of a control plane with their role, in addition to those in every world. */
const deployments: readonly (readonly [name: string, role: string])[] = [
  ['gardener-resource-manager', controlPlaneRole],
  [kubeScheduler, controlPlaneRole],
  ['kube-state-metrics', monitoringRole],
];

/** Builds a condition with all its fields. `ms` since the epoch. */
const conditionOf = (type: string, status: string, about: { readonly ms: number } & Texts): JsonMap => {
  const { ms, reason, message } = about;
  return { type, status, lastTransitionTime: formatTime(ms), lastUpdateTime: formatTime(ms), reason, message };
};

interface Texts {
  readonly reason: string;
  readonly message: string;
}

const deploymentDrafts = (namespace: string, { replicas = {} }: ShootInit): readonly PlacedObject[] =>
  deployments.map(([name, role]) => {
    const draft = deploymentObject(namespace, name, replicas[name] ?? 1);
    const labels = { app: name, 'gardener.cloud/role': role };
    return { kind: simKinds.Deployment, draft: { ...draft, metadata: { ...draft.metadata, labels } } };
  });

const etcdDrafts = (namespace: string): readonly PlacedObject[] =>
  [etcdMain, 'etcd-events'].map((name) => ({
    kind: simKinds.Etcd,
    draft: {
      metadata: { name, namespace, labels: { app: 'etcd', 'gardener.cloud/role': controlPlaneRole } },
      spec: { replicas: 1 },
      status: { observedGeneration: 1, ready: true, replicas: 1, readyReplicas: 1 },
    },
  }));

/** ManagedResources with the names that gardenlet and extensions use: for the seed, for observability, and for the shoot. */
const managedResources: readonly (readonly [name: string, spec: JsonMap, labels: JsonMap])[] = [
  ['extension-shoot-dns-service-seed', { class: 'seed' }, {}],
  ['kube-state-metrics', { class: 'seed' }, { 'care.gardener.cloud/condition-type': 'ObservabilityComponentsHealthy' }],
  ['shoot-core-coredns', {}, {}],
  ['shoot-core-kube-proxy', {}, {}],
  ['shoot-core-metrics-server', {}, {}],
  ['shoot-core-vpn-shoot', {}, {}],
];

const managedResourceDrafts = (namespace: string, ms: number): readonly PlacedObject[] => {
  const conditions = [
    conditionOf('ResourcesApplied', 'True', { ms, reason: 'ApplySucceeded', message: 'All resources are applied.' }),
    conditionOf('ResourcesHealthy', 'True', { ms, reason: 'ResourcesHealthy', message: 'All resources are healthy.' }),
    conditionOf('ResourcesProgressing', 'False', {
      ms,
      reason: 'ResourcesRolledOut',
      message: 'All resources have been fully rolled out.',
    }),
  ];
  return managedResources.map(([name, spec, labels]) => ({
    kind: careKinds.ManagedResource,
    draft: { metadata: { name, namespace, labels }, spec, status: { observedGeneration: 1, conditions } },
  }));
};

const machineDeploymentDraft = (namespace: string, nodes: number, ms: number): PlacedObject => ({
  kind: careKinds.MachineDeployment,
  draft: {
    metadata: { name: `${namespace}-${poolName}`, namespace },
    spec: { replicas: nodes },
    status: {
      observedGeneration: 1,
      replicas: nodes,
      readyReplicas: nodes,
      availableReplicas: nodes,
      conditions: [
        conditionOf('Available', 'True', {
          ms,
          reason: 'MinimumReplicasAvailable',
          message: 'Deployment has minimum availability.',
        }),
      ],
    },
  },
});

/** Extensions of a shoot: kind, name, `spec.type`, and the types of the conditions that they report. */
const extensions: readonly (readonly [kind: string, name: string, type: string, types: readonly string[]])[] = [
  ['Extension', 'shoot-dns-service', 'shoot-dns-service', ['ControlPlaneHealthy', 'SystemComponentsHealthy']],
  ['ControlPlane', 'shoot', 'simulated', ['ControlPlaneHealthy', 'SystemComponentsHealthy']],
  ['Infrastructure', 'shoot', 'simulated', []],
  ['Network', 'shoot', 'calico', ['SystemComponentsHealthy']],
  ['OperatingSystemConfig', 'shoot-worker', 'gardenlinux', []],
  ['Worker', 'shoot', 'simulated', ['EveryNodeReady']],
];

/** Condition that an extension reports while its components are healthy. `ms` since the epoch. */
const goodReport = (type: string, ms: number): JsonMap =>
  conditionOf(type, 'True', { ms, reason: 'HealthCheckSuccessful', message: 'All health checks successful' });

const extensionDrafts = (namespace: string, { ms }: CareInit): readonly PlacedObject[] =>
  extensions.flatMap(([name, object, type, types]) => {
    const kind = extensionKinds.get(name);
    if (kind === undefined) return [];
    const metadata = { name: object, namespace };
    const conditions = types.map((condition) => goodReport(condition, ms));
    return [{ kind, draft: { metadata, spec: { type }, status: { observedGeneration: 1, conditions } } }];
  });

const backupEntryDrafts = ({ init }: CareInit): readonly PlacedObject[] => {
  const kind = extensionKinds.get('BackupEntry');
  if (kind === undefined) return [];
  return [{ kind, draft: { metadata: { name: backupEntryName(init) }, spec: { type: 'simulated' }, status: {} } }];
};

interface CareInit {
  readonly init: ShootInit;
  /** Milliseconds since the epoch. */
  readonly ms: number;
}

/** Objects of the seed that report the health of a control plane, all of them healthy, except those that every world has. */
const careDrafts = (about: CareInit): readonly PlacedObject[] => {
  const namespace = technicalName(about.init.name);
  return [
    ...deploymentDrafts(namespace, about.init),
    ...etcdDrafts(namespace),
    ...managedResourceDrafts(namespace, about.ms),
    machineDeploymentDraft(namespace, nodesOf(about.init), about.ms),
    ...extensionDrafts(namespace, about),
    ...backupEntryDrafts(about),
  ];
};

/** The shoot's end of the tunnel to its control plane, on a node. */
const tunnelPod = (node: string): SimDraft => ({
  metadata: { name: 'vpn-shoot-0', namespace: 'kube-system', labels: { app: 'vpn-shoot', type: 'tunnel' } },
  spec: { nodeName: node, containers: [{ name: 'vpn-shoot', image: 'simulated/vpn-shoot:v1' }] },
  status: { phase: 'Running' },
});

/** Conditions of a Deployment as its controller sets them. Nothing changes them. */
const deploymentConditions = [
  ['Available', 'MinimumReplicasAvailable', 'Deployment has minimum availability.'],
  ['Progressing', 'NewReplicaSetAvailable', 'ReplicaSet has successfully progressed.'],
] as const;

export interface CareDeps extends Pick<ActorDeps, 'store' | 'clock'> {
  /** Store of the shoot; `store` is the seed's. */
  readonly shoot: SimStore;
}

/** Creates the objects from which care reads a shoot's health, all of them healthy. The nodes of the shoot must exist. */
export const createCareObjects = ({ store, shoot, clock }: CareDeps, init: ShootInit): void => {
  if (init.careObjects !== true) return;
  const namespace = technicalName(init.name);
  const ms = clock.now();
  for (const { kind, draft } of careDrafts({ init, ms })) {
    // In a control plane with pods some of these objects exist already.
    if (store.get(kind, draft.metadata) === undefined) store.put(kind, draft);
  }
  const conditions = deploymentConditions.map(([type, reason, message]) =>
    conditionOf(type, 'True', { ms, reason, message }),
  );
  for (const { metadata } of store.list(simKinds.Deployment, namespace)) {
    store.patch(simKinds.Deployment, metadata, (old) => withStatus(old, { conditions }));
  }
  const [node] = shoot.list(simKinds.Node);
  if (node !== undefined) shoot.put(simKinds.Pod, tunnelPod(node.metadata.name));
};
