import { careKinds as simCareKinds, extensionKinds } from '../../../simulator/apiserver/care-kinds.ts';
import { gardenKinds } from '../../../simulator/harness/care-kinds.ts';
import type { TestClient } from '../../envtest/client.ts';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import type { CustomKind } from '../../envtest/crds.ts';
import {
  type Kubelets,
  createCluster,
  createDeployment,
  createKubeconfigSecret,
  createNodes,
  startKubelets,
} from '../../envtest/shoot.ts';

/** Kinds that care reads besides `gardenerKinds`. */
export const careKinds: readonly CustomKind[] = [simCareKinds.MachineDeployment, ...extensionKinds.values()];
export const careGardenKinds: readonly CustomKind[] = gardenKinds.filter(({ custom }) => custom);

const gardenNamespace = 'garden-test';

export const shootPath = (name: string): string =>
  `/apis/core.gardener.cloud/v1beta1/namespaces/${gardenNamespace}/shoots/${name}`;

export interface CareShootSpec {
  readonly name: string;
  readonly kubeconfig: string;
  /** Names of the nodes. A shoot without nodes has no workers. */
  readonly nodes: readonly string[];
}

const shootObject = ({ name, nodes }: CareShootSpec) => ({
  apiVersion: 'core.gardener.cloud/v1beta1',
  kind: 'Shoot',
  metadata: { name, namespace: gardenNamespace },
  spec: {
    kubernetes: { version: '1.36.3' },
    provider: {
      workers: nodes.length === 0 ? [] : [{ name: 'pool', minimum: nodes.length, maximum: nodes.length }],
    },
  },
});

/** UID of every Shoot. */
const shootUid = '0123';
const status = {
  uid: shootUid,
  lastOperation: { type: 'Reconcile', state: 'Succeeded', progress: 100, lastUpdateTime: '2026-01-01T00:00:00Z' },
};

export const namespaceOf = (name: string): string => `shoot--test--${name}`;

/** Creates an available Deployment. */
const createWorkload = async (seed: TestClient, name: string, deployment: string): Promise<void> => {
  const role = deployment === 'kube-state-metrics' ? 'monitoring' : 'controlplane';
  const labels = { 'gardener.cloud/role': role };
  await createDeployment(seed, namespaceOf(name), { name: deployment, replicas: 1, labels });
  const conditions = [{ type: 'Available', status: 'True', reason: 'Test', message: 'as the test wants it' }];
  await seed.patch(`/apis/apps/v1/namespaces/${namespaceOf(name)}/deployments/${deployment}/status`, {
    status: { observedGeneration: 1, conditions },
  });
};

const createControlPlane = async (seed: TestClient, { name, kubeconfig, nodes }: CareShootSpec): Promise<void> => {
  const namespace = namespaceOf(name);
  await seed.create('/api/v1/namespaces', { metadata: { name: namespace } });
  await createKubeconfigSecret(seed, { namespace, name: 'shoot-access-dependency-watchdog-probe', kubeconfig });
  const required = ['gardener-resource-manager', 'kube-apiserver', 'kube-controller-manager'];
  const withWorkers = ['kube-scheduler', 'machine-controller-manager', 'kube-state-metrics'];
  for (const deployment of [...required, ...(nodes.length === 0 ? [] : withWorkers)]) {
    await createWorkload(seed, name, deployment);
  }
  for (const etcd of ['etcd-main', 'etcd-events']) {
    const path = `/apis/druid.gardener.cloud/v1alpha1/namespaces/${namespace}/etcds`;
    const metadata = { name: etcd, labels: { 'gardener.cloud/role': 'controlplane' } };
    await seed.create(path, { apiVersion: 'druid.gardener.cloud/v1alpha1', kind: 'Etcd', metadata, spec: {} });
    await seed.patch(`${path}/${etcd}/status`, { status: { ready: true } });
  }
};

/** Creates a healthy shoot: its control plane in the seed, its Cluster, and its Shoot in the garden. The caller creates nodes and machines. */
export const createCareShoot = async (
  { garden, seed }: { readonly garden: ControlPlane; readonly seed: ControlPlane },
  spec: CareShootSpec,
): Promise<void> => {
  const { name, nodes } = spec;
  await garden.client.apply(`/api/v1/namespaces/${gardenNamespace}`, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: gardenNamespace },
  });
  await garden.client.create(shootPath('').replace(/\/$/, ''), shootObject(spec));
  await garden.client.patch(`${shootPath(name)}/status`, { status });
  await createControlPlane(seed.client, spec);
  if (nodes.length > 0) {
    await seed.client.create(`/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespaceOf(name)}/machinedeployments`, {
      apiVersion: 'machine.sapcloud.io/v1alpha1',
      kind: 'MachineDeployment',
      metadata: { name: 'pool' },
      spec: { replicas: nodes.length },
    });
  }
  await createCluster(seed.client, { name: namespaceOf(name), shoot: { ...shootObject(spec), status } });
};

/** Creates ready nodes with kubelets, and a tunnel pod that cannot be reached, because its node runs no kubelet. */
export const createInsideOfShoot = async (shoot: TestClient, nodes: readonly string[]): Promise<Kubelets> => {
  await createNodes(shoot, nodes);
  for (const name of nodes) {
    await shoot.patch(`/api/v1/nodes/${name}/status`, {
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.36.3' } },
    });
    // Leases of real kubelets last 40 s.
    await shoot.patch(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`, {
      spec: { leaseDurationSeconds: 5 },
    });
  }
  const kubelets = startKubelets(shoot, nodes);
  await shoot.apply('/api/v1/namespaces/kube-system', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'kube-system' },
  });
  const pods = '/api/v1/namespaces/kube-system/pods';
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'vpn', image: 'none' }] };
  const labels = { type: 'tunnel', app: 'vpn-shoot' };
  await shoot.create(pods, { metadata: { name: 'vpn-shoot-1', labels }, spec });
  await shoot.create(pods, { metadata: { name: 'vpn-shoot-2' }, spec: { ...spec, nodeName: 'node-a' } });
  await shoot.patch(`${pods}/vpn-shoot-1/status`, { status: { phase: 'Running' } });
  return kubelets;
};
