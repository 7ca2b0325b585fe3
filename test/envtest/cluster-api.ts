import { capiKinds } from '../../simulator/apiserver/capi-kinds.ts';
import { customKind } from '../../simulator/apiserver/kinds.ts';
import type { TestClient } from './client.ts';
import type { CustomKind } from './crds.ts';

const { group } = capiKinds.Cluster;

/** Returns the kinds of Cluster API, with upstream's names of versions, fields and subresources (sigs.k8s.io/cluster-api/api/core). */
export const clusterApiKinds = (version: 'v1beta1' | 'v1beta2'): readonly CustomKind[] => [
  { ...capiKinds.Cluster, version },
  { ...capiKinds.Machine, version },
  customKind({ group, version, kind: 'MachineHealthCheck', resource: 'machinehealthchecks' }, { status: true }),
];

const apiVersion = `${group}/v1beta2`;
const label = `${group}/cluster-name`;

export const capiPath = (namespace: string, plural: string, name = ''): string =>
  `/apis/${apiVersion}/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`;

export interface CapiClusterSpec {
  readonly namespace: string;
  readonly name: string;
  /** Names of the nodes, each with a running Machine. */
  readonly nodes: readonly string[];
  readonly kubeconfig: string;
}

const initialized = {
  ...{ type: 'ControlPlaneInitialized', status: 'True', reason: 'Initialized', message: '' },
  lastTransitionTime: '2026-11-23T06:00:00Z',
};

/** Creates a Cluster whose control plane is initialized, its Machines, and the Secret with its kubeconfig. */
export const createCapiCluster = async (
  seed: TestClient,
  { namespace, name, nodes, kubeconfig }: CapiClusterSpec,
): Promise<void> => {
  await seed.create(`/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'cluster.x-k8s.io/secret',
    metadata: { name: `${name}-kubeconfig`, labels: { [label]: name } },
    data: { value: Buffer.from(kubeconfig).toString('base64') },
  });
  for (const node of nodes) {
    const machine = `${name}-${node}`;
    await seed.create(capiPath(namespace, 'machines'), {
      apiVersion,
      kind: 'Machine',
      metadata: { name: machine, labels: { [label]: name } },
      spec: { clusterName: name },
    });
    const status = { phase: 'Running', nodeRef: { name: node } };
    await seed.patch(`${capiPath(namespace, 'machines', machine)}/status`, { status });
  }
  await seed.create(capiPath(namespace, 'clusters'), {
    apiVersion,
    kind: 'Cluster',
    metadata: { name, finalizers: [`${group}/cluster`] },
    spec: {},
  });
  await seed.patch(`${capiPath(namespace, 'clusters', name)}/status`, { status: { conditions: [initialized] } });
};

/** Creates a MachineHealthCheck by which every Machine with a lost node is unhealthy. */
export const createHealthCheck = (
  seed: TestClient,
  given: { readonly namespace: string; readonly name: string; readonly annotations: Readonly<Record<string, string>> },
): Promise<unknown> => {
  const { namespace, name, annotations } = given;
  const unhealthy = { type: 'Ready', status: 'Unknown', timeoutSeconds: 300 };
  return seed.create(capiPath(namespace, 'machinehealthchecks'), {
    apiVersion,
    kind: 'MachineHealthCheck',
    metadata: { name: `${name}-mhc`, annotations },
    spec: {
      clusterName: name,
      selector: { matchLabels: { [label]: name } },
      checks: { unhealthyNodeConditions: [unhealthy] },
    },
  });
};
