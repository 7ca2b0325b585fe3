import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { type SimDraft, type SimKind, formatMicroTime, formatTime } from '../apiserver/index.ts';

/** Deployments of a shoot's control plane whose controllers the actors simulate. */
export const kubeControllerManager = 'kube-controller-manager';
export const machineControllerManager = 'machine-controller-manager';
export const clusterAutoscaler = 'cluster-autoscaler';

export const kubeApiserver = 'kube-apiserver';

/** Gardenlet's name for the Secret in the shoot's namespace whose key `kubeconfig` gives access to the shoot's API server. */
export const kubeconfigSecretName = 'shoot-access-dependency-watchdog-probe';

/** Annotation of a shoot's Cluster in the simulated seed, or of its Namespace if the seed has no Clusters. `cut`: all its kubelets are cut off. */
export const kubeletsAnnotation = 'simulation.dependency-watchdog.gardener.cloud/kubelets';

/** Annotation of the same object, for a shoot with `controlPlanePods`. `down`: its etcd is not ready. */
export const etcdAnnotation = 'simulation.dependency-watchdog.gardener.cloud/etcd';

/** Annotation of the same object: comma-separated names of Deployments whose programs exit even if their dependencies are ready. */
export const crashingAnnotation = 'simulation.dependency-watchdog.gardener.cloud/crashing';

export const nodeLeaseNamespace = 'kube-node-lease';
/** Name of a shoot's only pool. */
export const poolName = 'worker';

/** Kind and name of the object whose replicas run a component. */
export interface Workload {
  readonly kind: SimKind;
  readonly name: string;
}

export interface ShootInit {
  readonly name: string;
  /** Workloads by component. Default: Deployments with the components' own names. */
  readonly workloads?: Readonly<Record<string, Workload>>;
  /** Number of nodes of its only pool. Default 5. */
  readonly nodes?: number;
  /** The shoot's own node monitor grace period, in milliseconds. Default: `WorldTiming.graceMs`. */
  readonly nodeMonitorGraceMs?: number;
  /** Last operation of the Shoot. Default: a successful reconciliation. */
  readonly lastOperation?: { readonly type: string; readonly state: string };
  /** Replicas by component. Default: one each; 0 leaves the component out. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** True if the control plane also has etcd and kube-scheduler, and all its components have pods that can crash-loop. Default false. */
  readonly controlPlanePods?: boolean;
  /** True if the objects from which care reads health exist: conditions, Etcds, ManagedResources, extensions, a tunnel pod. Default false. */
  readonly careObjects?: boolean;
}

/** Name of the shoot's namespace and Cluster, which gardenlet builds from the project and the shoot's name. */
export const technicalName = (shoot: string): string => `shoot--sim--${shoot}`;

/** Secret with a kubeconfig. */
export const secretObject = (
  at: { readonly namespace: string; readonly name: string },
  kubeconfig: string,
): SimDraft => ({
  metadata: at,
  type: 'Opaque',
  data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
});

/** `status.uid` of the Shoot in the garden. */
const uidOf = ({ name }: ShootInit): string => `uid-of-${name}`;

export const nodesOf = ({ nodes = 5 }: ShootInit): number => nodes;

/** Gardenlet's name for the BackupEntry of a shoot. */
export const backupEntryName = (init: ShootInit): string => `${technicalName(init.name)}--${uidOf(init)}`;

export const namespaceObject = (name: string): SimDraft => ({
  metadata: { name, labels: { 'gardener.cloud/role': 'shoot' } },
});

/** Gardener's Cluster of a shoot. `ms`: time of the last operation, since the epoch. */
export const clusterObject = (init: ShootInit, ms: number): SimDraft => {
  const nodes = nodesOf(init);
  const workers = [{ name: poolName, minimum: nodes, maximum: nodes + 2, machine: { type: 'large' } }];
  const { nodeMonitorGraceMs: grace, lastOperation = { type: 'Reconcile', state: 'Succeeded' } } = init;
  const manager =
    grace === undefined ? {} : { kubeControllerManager: { nodeMonitorGracePeriod: formatGoDuration(grace) } };
  const shoot = {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name: init.name, namespace: 'garden-sim', generation: 1 },
    spec: {
      purpose: 'evaluation',
      hibernation: { enabled: false },
      kubernetes: { version: '1.33.2', ...manager },
      provider: { workers },
    },
    status: {
      uid: uidOf(init),
      technicalID: technicalName(init.name),
      hibernated: false,
      lastOperation: { ...lastOperation, lastUpdateTime: formatTime(ms) },
    },
  };
  return {
    metadata: { name: technicalName(init.name) },
    spec: { cloudProfile: {}, seed: { metadata: { name: 'simulated' } }, shoot },
  };
};

export interface MachineInit {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  /** Time of the last phase change, milliseconds since the epoch. */
  readonly since: number;
}

/** A Machine; its node has the same name. */
export const machineObject = ({ namespace, name, phase, since }: MachineInit): SimDraft => ({
  metadata: { name, namespace, labels: { node: name, name: `${namespace}-${poolName}` } },
  spec: { class: { kind: 'MachineClass', name: `${namespace}-${poolName}` }, providerID: `simulated:///${name}` },
  status: { currentStatus: { phase, lastUpdateTime: formatTime(since) } },
});

/** Conditions that a kubelet reports, in addition to Ready. `NetworkUnavailable` is not among them. */
const kubeletConditions: readonly (readonly [type: string, reason: string])[] = [
  ['MemoryPressure', 'KubeletHasSufficientMemory'],
  ['DiskPressure', 'KubeletHasNoDiskPressure'],
  ['PIDPressure', 'KubeletHasSufficientPID'],
];

export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message?: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
}

/** Conditions of a healthy node. `lastTransitionTime` stays as in `before` if the status does. `ms` since the epoch. */
export const healthyConditions = (ms: number, before: readonly NodeCondition[]): readonly NodeCondition[] => {
  const time = formatTime(ms);
  const condition = (type: string, status: string, reason: string): NodeCondition => {
    const known = before.find((other) => other.type === type);
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : time;
    return { type, status, reason, lastHeartbeatTime: time, lastTransitionTime };
  };
  const own = kubeletConditions.map(([type, reason]) => condition(type, 'False', reason));
  const others = before.filter(({ type }) => type !== 'Ready' && !kubeletConditions.some(([name]) => name === type));
  return [...others, ...own, condition('Ready', 'True', 'KubeletReady')];
};

export const nodeObject = (name: string, ms: number): SimDraft => ({
  metadata: {
    name,
    labels: {
      'worker.gardener.cloud/pool': poolName,
      'kubernetes.io/hostname': name,
      'topology.kubernetes.io/zone': 'sim-a',
    },
  },
  spec: { providerID: `simulated:///${name}` },
  status: { conditions: healthyConditions(ms, []), nodeInfo: { kubeletVersion: 'v1.33.2' } },
});

/** Lease of a node. Times in milliseconds; `renewedAt` since the epoch, by the node's clock. */
export const leaseObject = (name: string, { renewedAt, renewMs }: LeaseTimes): SimDraft => ({
  metadata: { name, namespace: nodeLeaseNamespace },
  spec: {
    holderIdentity: name,
    // A kubelet renews after a quarter of this time (`nodeLeaseRenewIntervalFraction` in kubernetes pkg/kubelet/kubelet.go).
    leaseDurationSeconds: Math.ceil((4 * renewMs) / 1_000),
    renewTime: formatMicroTime(renewedAt),
  },
});

export interface LeaseTimes {
  readonly renewedAt: number;
  readonly renewMs: number;
}
