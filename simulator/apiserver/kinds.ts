import {
  defaultConfigMap,
  defaultEndpointSlice,
  defaultNamespace,
  defaultPod,
  defaultReplicaSet,
  defaultReplicas,
  defaultSecret,
  defaultStatefulSet,
  leaseProblem,
} from './kind-rules.ts';
import type { SimKind } from './kind.ts';

type Identity = Pick<SimKind, 'group' | 'version' | 'kind' | 'resource'>;

const define = (base: Partial<SimKind>, identity: Identity, extra: Partial<SimKind>): SimKind => ({
  singular: identity.kind.toLowerCase(),
  namespaced: true,
  custom: false,
  status: false,
  generation: false,
  countedMetadata: [],
  omitZero: [],
  graceful: false,
  ...base,
  ...identity,
  ...extra,
});

const core = (kind: string, resource: string, extra: Partial<SimKind> = {}): SimKind =>
  define({}, { group: '', version: 'v1', kind, resource }, extra);

const apps = (kind: string, resource: string, extra: Partial<SimKind>): SimKind =>
  define(
    {
      status: true,
      generation: true,
      scale: { replicas: ['spec', 'replicas'], statusReplicas: ['status', 'replicas'] },
      defaults: defaultReplicas,
    },
    { group: 'apps', version: 'v1', kind, resource },
    extra,
  );

/** A kind served from a CustomResourceDefinition. */
export const customKind = (identity: Identity, extra: Partial<SimKind> = {}): SimKind =>
  define({ custom: true, generation: true }, identity, extra);

const zeroes = [
  'replicas',
  'readyReplicas',
  'updatedReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'currentReplicas',
];

/** The kinds that `createSimApiServer` serves by default. */
export const simKinds = {
  Namespace: core('Namespace', 'namespaces', {
    namespaced: false,
    status: true,
    defaults: defaultNamespace,
  }),
  Secret: core('Secret', 'secrets', { defaults: defaultSecret }),
  ConfigMap: core('ConfigMap', 'configmaps', { defaults: defaultConfigMap }),
  Node: core('Node', 'nodes', { namespaced: false, status: true }),
  Pod: core('Pod', 'pods', {
    status: true,
    generation: true,
    graceful: true,
    defaults: defaultPod,
  }),
  Service: core('Service', 'services', { status: true }),
  /** The older form of a Service's EndpointSlices; deprecated, but still written by KCM. */
  Endpoints: core('Endpoints', 'endpoints'),
  Event: core('Event', 'events'),
  Lease: define(
    {},
    { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', resource: 'leases' },
    {
      stampedField: 'renewTime',
      decodeProblem: leaseProblem,
    },
  ),
  Deployment: apps('Deployment', 'deployments', {
    omitZero: zeroes,
    // Annotations are copied to the ReplicaSets.
    countedMetadata: ['annotations'],
  }),
  StatefulSet: apps('StatefulSet', 'statefulsets', {
    omitZero: zeroes.filter((name) => name !== 'replicas' && name !== 'availableReplicas'),
    defaults: defaultStatefulSet,
  }),
  ReplicaSet: apps('ReplicaSet', 'replicasets', {
    omitZero: zeroes.filter((name) => name !== 'replicas'),
    defaults: defaultReplicaSet,
  }),
  EndpointSlice: define(
    {},
    { group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice', resource: 'endpointslices' },
    { defaults: defaultEndpointSlice },
  ),
  Cluster: customKind(
    { group: 'extensions.gardener.cloud', version: 'v1alpha1', kind: 'Cluster', resource: 'clusters' },
    { namespaced: false },
  ),
  Machine: customKind(
    { group: 'machine.sapcloud.io', version: 'v1alpha1', kind: 'Machine', resource: 'machines' },
    { status: true },
  ),
  Etcd: customKind(
    { group: 'druid.gardener.cloud', version: 'v1alpha1', kind: 'Etcd', resource: 'etcds' },
    { status: true, scale: { replicas: ['spec', 'replicas'], statusReplicas: ['status', 'replicas'] } },
  ),
  Watermill: customKind(
    { group: 'test.dependency-watchdog.gardener.cloud', version: 'v1', kind: 'Watermill', resource: 'watermills' },
    { status: true, scale: { replicas: ['spec', 'wheel', 'count'], statusReplicas: ['status', 'turning'] } },
  ),
} as const satisfies Record<string, SimKind>;
