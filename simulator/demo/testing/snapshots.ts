import type { ComponentStatus, ShootSnapshot, StatusSnapshot } from '../snapshot.ts';

export const component = (name: string, change: Partial<ComponentStatus> = {}): ComponentStatus => ({
  name,
  replicas: 1,
  readyReplicas: 1,
  active: false,
  ...change,
});

/** Time of every snapshot, in milliseconds since the epoch. */
export const takenAt = Date.UTC(2026, 10, 21);

/** A healthy shoot with two nodes whose leases are 1 and 2 seconds old. */
export const shootStatus = (name: string, change: Partial<ShootSnapshot> = {}): ShootSnapshot => ({
  name,
  state: 'healthy',
  answers: true,
  isCut: false,
  isEtcdDown: false,
  nodes: [1, 2].map((number) => ({
    name: `shoot--sim--${name}-worker-${String(number)}`,
    ready: 'True',
    renewedAt: takenAt - number * 1_000,
  })),
  components: ['etcd-main', 'kube-apiserver', 'kube-controller-manager', 'machine-controller-manager'].map((part) =>
    component(part),
  ),
  machines: [`shoot--sim--${name}-worker-1`, `shoot--sim--${name}-worker-2`],
  pods: [],
  weeded: [],
  ...change,
});

export const snapshotOf = (...shoots: readonly ShootSnapshot[]): StatusSnapshot => ({
  at: takenAt,
  shoots,
});

/** A pod in back-off until `endsAt`. */
export const loopingPod = (name: string, endsAt: number): ShootSnapshot['pods'][number] => ({
  name: `${name}-1`,
  uid: name,
  component: name,
  deleting: false,
  restarts: 3,
  backOff: { ms: 8_000, endsAt },
});
