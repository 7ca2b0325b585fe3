import { formatMicroTime } from '../../simulator/apiserver/time.ts';
import type { RbacRule } from './access.ts';
import type { TestClient } from './client.ts';
import type { ControlPlane } from './control-plane.ts';

/** Kubelets as far as the prober sees them: they renew Leases of nodes. */
export interface Kubelets {
  /** Renews all leases every `everyMs`, until `cut` or `stop`. */
  connect(): void;
  cut(): void;
  stop(): Promise<void>;
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

/** Creates Nodes and their Leases. `clockShiftMs` is the error of the nodes' clocks. */
export const createNodes = async (shoot: TestClient, names: readonly string[], clockShiftMs = 0): Promise<void> => {
  // A control plane without controllers creates no system namespaces.
  await shoot.apply('/api/v1/namespaces/kube-node-lease', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'kube-node-lease' },
  });
  for (const name of names) {
    await shoot.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'worker.gardener.cloud/pool': 'pool' } },
    });
    await shoot.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name },
      spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(Date.now() + clockShiftMs) },
    });
  }
};

const renewLeases = async (shoot: TestClient, names: readonly string[], at: number): Promise<void> => {
  const renewTime = formatMicroTime(at);
  for (const name of names) await shoot.patch(`${leases}/${name}`, { spec: { renewTime } });
};

export const startKubelets = (
  shoot: TestClient,
  names: readonly string[],
  { everyMs = 1_000, clockShiftMs = 0 }: { readonly everyMs?: number; readonly clockShiftMs?: number } = {},
): Kubelets => {
  let connected = true;
  let isRenewing = false;
  let renewal = Promise.resolve();
  const renew = async (): Promise<void> => {
    isRenewing = true;
    try {
      await renewLeases(shoot, names, Date.now() + clockShiftMs);
    } catch (error) {
      // Like a kubelet, tries again after a broken connection: the API server may be stopped while a renewal is under way.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => {
    // Renewals that queued up would go on after a cut.
    if (connected && !isRenewing) renewal = renew();
  }, everyMs);
  return {
    connect: () => {
      connected = true;
    },
    cut: () => {
      connected = false;
    },
    stop: async () => {
      clearInterval(timer);
      await renewal;
    },
  };
};

export const createMachines = async (
  seed: TestClient,
  { namespace, nodes }: { readonly namespace: string; readonly nodes: readonly string[] },
): Promise<void> => {
  const path = `/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespace}/machines`;
  for (const node of nodes) {
    await seed.create(path, {
      apiVersion: 'machine.sapcloud.io/v1alpha1',
      kind: 'Machine',
      metadata: { name: `machine-${node}`, labels: { node } },
      spec: {},
    });
    await seed.patch(`${path}/machine-${node}/status`, { status: { currentStatus: { phase: 'Running' } } });
  }
};

export interface WorkloadSpec {
  readonly name: string;
  readonly replicas: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const createDeployment = (seed: TestClient, namespace: string, workload: WorkloadSpec): Promise<unknown> =>
  seed.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: workload.name, labels: workload.labels ?? {}, annotations: workload.annotations ?? {} },
    spec: {
      replicas: workload.replicas,
      selector: { matchLabels: { app: workload.name } },
      template: {
        metadata: { labels: { app: workload.name } },
        spec: { containers: [{ name: 'main', image: 'none' }] },
      },
    },
  });

/** Creates what a watchdog protects in a control plane: Machines, and Deployments with these counts of replicas. */
export const createDependents = async (
  seed: TestClient,
  { counts, ...machines }: Parameters<typeof createMachines>[1] & { readonly counts: Readonly<Record<string, number>> },
): Promise<void> => {
  await createMachines(seed, machines);
  for (const [name, replicas] of Object.entries(counts)) {
    await createDeployment(seed, machines.namespace, { name, replicas });
  }
};

export interface Workload {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly generation: number;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly observedGeneration?: number; readonly readyReplicas?: number };
}

export const getDeployment = (seed: TestClient, namespace: string, name: string): Promise<Workload> =>
  seed.get<Workload>(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);

/** True if `replicas` are both desired and ready. */
export const isAt = ({ spec, status }: Workload, replicas: number): boolean =>
  spec.replicas === replicas && (status?.readyReplicas ?? 0) === replicas;

/** Rights of the prober in a seed, as existing installations grant them. */
export const seedRules = [
  { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['namespaces', 'secrets'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['machine.sapcloud.io'], resources: ['machines'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments', 'deployments/scale'],
    verbs: ['get', 'list', 'watch', 'update', 'patch'],
  },
];
/** The Role that gardenlet creates next to the prober. */
export const electionRules: readonly RbacRule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'], namespace: 'garden' },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: ['dwd-prober-leader-election'],
    verbs: ['get', 'watch', 'update'],
    namespace: 'garden',
  },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'get', 'update', 'patch'], namespace: 'garden' },
];
export const shootRules = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['get', 'list'],
    namespace: 'kube-node-lease',
  },
];

export const createKubeconfigSecret = (
  seed: TestClient,
  secret: { readonly namespace: string; readonly name: string; readonly kubeconfig: string },
): Promise<unknown> =>
  seed.create(`/api/v1/namespaces/${secret.namespace}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secret.name },
    data: { kubeconfig: Buffer.from(secret.kubeconfig).toString('base64') },
  });

export const createCluster = (
  seed: TestClient,
  cluster: { readonly name: string; readonly labels?: Readonly<Record<string, string>>; readonly shoot: object },
): Promise<unknown> =>
  seed.create('/apis/extensions.gardener.cloud/v1alpha1/clusters', {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: { name: cluster.name, labels: cluster.labels ?? {} },
    spec: { shoot: { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', ...cluster.shoot } },
  });

export interface ProtectedShoot {
  readonly namespace: string;
  readonly kubeconfig: string;
  /** Name of the Secret with the kubeconfig, by default `shoot-access-prober`. */
  readonly secretName?: string;
  /** Fields that replace those of the Shoot's spec. */
  readonly shoot?: object;
  /** Labels of the Cluster. */
  readonly labels?: Readonly<Record<string, string>>;
}

export const createProtectedShoot = async (seed: ControlPlane, shoot: ProtectedShoot): Promise<void> => {
  const { namespace, kubeconfig, secretName = 'shoot-access-prober', labels = {} } = shoot;
  const { client } = seed;
  await client.apply(`/api/v1/namespaces/${namespace}`, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  await createKubeconfigSecret(client, { namespace, name: secretName, kubeconfig });
  await createCluster(client, {
    name: namespace,
    labels,
    shoot: {
      metadata: { name: 'one', namespace: 'garden-test' },
      spec: { provider: { workers: [{ name: 'pool' }] }, ...shoot.shoot },
      status: { lastOperation: { type: 'Reconcile', state: 'Succeeded' } },
    },
  });
};
