import { type SimApiServer, createSimApiServer, formatMicroTime, formatTime, simKinds } from '../apiserver/index.ts';
import { kubeconfigText } from '../network/index.ts';
import type { VirtualClock } from '../time/index.ts';
import { kubeconfigSecretName } from '../world/index.ts';
import { careKinds } from './care-kinds.ts';

/** A shoot that is healthy at first: its control plane in the seed, its own API server, and its Shoot in the garden. */
export interface CareShootFixture {
  readonly name: string;
  readonly namespace: string;
  readonly url: string;
  readonly api: SimApiServer;
  /** True if the nodes renew their leases. */
  renewing: boolean;
}

export interface CareShootOptions {
  readonly clock: VirtualClock;
  readonly seed: SimApiServer;
  readonly garden: SimApiServer;
  readonly name: string;
  readonly nodes: number;
}

export const gardenNamespace = 'garden-sim';
const deployments = [
  { name: 'gardener-resource-manager', role: 'controlplane' },
  { name: 'kube-apiserver', role: 'controlplane' },
  { name: 'kube-controller-manager', role: 'controlplane' },
  { name: 'kube-scheduler', role: 'controlplane' },
  { name: 'machine-controller-manager', role: 'controlplane' },
  { name: 'kube-state-metrics', role: 'monitoring' },
];
const workerLabels = { 'worker.gardener.cloud/pool': 'worker' };

const isTrue = (type: string) => ({ type, status: 'True', reason: 'R', message: 'M' });
const isFalse = (type: string) => ({ ...isTrue(type), status: 'False' });

const templateOf = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: app, image: app }] },
});

/** Makes the status of Deployments follow every change at once, except for the conditions, which the test sets. */
export const observeDeployments = ({ store }: SimApiServer): void =>
  void store.subscribe(simKinds.Deployment, ({ type, object: { metadata } }) => {
    if (type === 'DELETED') return;
    store.patch(simKinds.Deployment, { namespace: metadata.namespace ?? '', name: metadata.name }, (deployment) => {
      const { replicas = 1 } = deployment.spec as { readonly replicas?: number };
      const { conditions } = deployment.status as { readonly conditions?: unknown };
      const counts = { observedGeneration: deployment.metadata.generation, replicas, readyReplicas: replicas };
      return { ...deployment, status: { conditions, ...counts } };
    });
  });

const shootObject = ({ clock, name, nodes }: CareShootOptions) => ({
  metadata: { name, namespace: gardenNamespace },
  spec: {
    seedName: 'sim',
    kubernetes: { version: '1.33.2' },
    provider: { workers: [{ name: 'worker', minimum: nodes, maximum: nodes }] },
  },
  status: {
    uid: `uid-of-${name}`,
    lastOperation: { type: 'Reconcile', state: 'Succeeded', progress: 100, lastUpdateTime: formatTime(clock.now()) },
  },
});

const putControlPlane = ({ seed, nodes }: CareShootOptions, namespace: string, url: string): void => {
  const { store } = seed;
  const kubeconfig = Buffer.from(kubeconfigText({ server: url, user: { token: 't' } })).toString('base64');
  store.put(simKinds.Secret, { metadata: { namespace, name: kubeconfigSecretName }, data: { kubeconfig } });
  for (const { name, role } of deployments) {
    store.put(simKinds.Deployment, {
      metadata: { namespace, name, labels: { 'gardener.cloud/role': role } },
      spec: { replicas: 1, selector: { matchLabels: { app: name } }, template: templateOf(name) },
      status: { conditions: [isTrue('Available')] },
    });
  }
  for (const name of ['etcd-events', 'etcd-main']) {
    const metadata = { namespace, name, labels: { 'gardener.cloud/role': 'controlplane' } };
    store.put(simKinds.Etcd, { metadata, spec: { replicas: 1 }, status: { ready: true } });
  }
  for (const [name, spec] of [
    ['seed-system', { class: 'seed' }],
    ['shoot-core', {}],
  ] as const) {
    const conditions = [isTrue('ResourcesApplied'), isTrue('ResourcesHealthy'), isFalse('ResourcesProgressing')];
    const metadata = { namespace, name };
    store.put(careKinds.ManagedResource, { metadata, spec, status: { observedGeneration: 1, conditions } });
  }
  store.put(careKinds.MachineDeployment, { metadata: { namespace, name: 'worker' }, spec: { replicas: nodes } });
};

/** Creates nodes with their machines, and the shoot's end of the tunnel; returns the names of the nodes. */
const putNodes = ({ seed, nodes }: CareShootOptions, { namespace, api }: CareShootFixture): readonly string[] => {
  const names = Array.from({ length: nodes }, (_, index) => `node-${String(index)}`);
  for (const name of names) {
    api.store.put(simKinds.Node, {
      metadata: { name, labels: workerLabels },
      status: { conditions: [isTrue('Ready')], nodeInfo: { kubeletVersion: 'v1.33.2' } },
    });
    const metadata = { namespace, name, labels: { node: name } };
    seed.store.put(simKinds.Machine, { metadata, status: { currentStatus: { phase: 'Running' } } });
  }
  api.store.put(simKinds.Pod, {
    metadata: { namespace: 'kube-system', name: 'vpn-shoot-1', labels: { type: 'tunnel', app: 'vpn-shoot' } },
    spec: { containers: [{ name: 'vpn', image: 'vpn' }] },
    status: { phase: 'Running' },
  });
  return names;
};

const renewMs = 10_000;

/** Creates a healthy shoot. Its nodes renew their leases as long as the clock advances. */
export const createCareShoot = (options: CareShootOptions): CareShootFixture => {
  const { clock, seed, garden, name } = options;
  const namespace = `shoot--sim--${name}`;
  const api = createSimApiServer({ clock });
  const shoot: CareShootFixture = { name, namespace, url: `https://${name}.sim`, api, renewing: true };
  putControlPlane(options, namespace, shoot.url);
  const nodes = putNodes(options, shoot);
  const object = shootObject(options);
  garden.store.put(careKinds.Shoot, object);
  seed.store.put(simKinds.Cluster, {
    metadata: { name: namespace },
    spec: { seed: { metadata: { name: 'sim' } }, shoot: object },
  });

  const renew = (): void => {
    clock.timer(renewMs, renew);
    if (!shoot.renewing) return;
    for (const node of nodes) {
      api.store.put(simKinds.Lease, {
        metadata: { namespace: 'kube-node-lease', name: node },
        spec: { holderIdentity: node, leaseDurationSeconds: 40, renewTime: formatMicroTime(clock.now()) },
      });
    }
  };
  renew();
  return shoot;
};
