import type { DeploymentSnapshot, ShootSnapshot, Snapshot } from '../../snapshot.ts';
import type { Backdrop } from '../backdrop.ts';

export const deployment = (name: string, change: Partial<DeploymentSnapshot> = {}): DeploymentSnapshot => ({
  name,
  replicas: 1,
  readyReplicas: 1,
  active: false,
  ...change,
});

/** Milliseconds since the epoch; the first look at the world. */
export const wall = Date.UTC(2026, 10, 21);

/** Up and well: two nodes whose leases are 1 and 2 seconds old. */
export const shootSnapshot = (name: string, change: Partial<ShootSnapshot> = {}): ShootSnapshot => ({
  name,
  isCut: false,
  isEtcdDown: false,
  answers: true,
  nodes: [1, 2].map((number) => ({
    name: `shoot--sim--${name}-worker-${String(number)}`,
    ready: 'True',
    renewedAt: wall - number * 1_000,
  })),
  deployments: ['kube-apiserver', 'kube-controller-manager', 'machine-controller-manager'].map((part) =>
    deployment(part),
  ),
  machines: [`shoot--sim--${name}-worker-1`, `shoot--sim--${name}-worker-2`],
  pods: [{ name: 'etcd-main-0', uid: '1', component: 'etcd-main', ready: true, deleting: false, restarts: 0 }],
  weeded: [],
  ...change,
});

export const snapshotOf = (...shoots: readonly ShootSnapshot[]): Snapshot => ({ at: 0, wall, shoots });

export const backdrop: Backdrop = {
  withProber: true,
  withWeeder: true,
  limitMs: 22_500,
  graceMs: 30_000,
  seedKubeconfig: '/tmp/d/seed.kubeconfig',
  careConfig: '/tmp/d/care.yaml',
  shootKubeconfigs: ['/tmp/d/alpha.kubeconfig'],
  logs: ['/tmp/d-prober.log'],
};
