import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import { type SimDraft, formatMicroTime, formatTime } from '../apiserver/index.ts';

/** Deployments of a shoot's control plane that the actors bring to life. */
export const kubeControllerManager = 'kube-controller-manager';
export const machineControllerManager = 'machine-controller-manager';
export const clusterAutoscaler = 'cluster-autoscaler';

export const kubeApiserver = 'kube-apiserver';

/** Of the Secret in the shoot's namespace whose key `kubeconfig` reaches its API server, as gardenlet names it. */
export const kubeconfigSecretName = 'shoot-access-dependency-watchdog-probe';

/**
 * On a Cluster of the simulated seed, or on its Namespace where that has no Clusters: `cut` keeps all kubelets of that shoot from their API server, `late` every second one (of the nodes with even numbers), absent lets
 * them through.
 */
export const kubeletsAnnotation = 'simulation.dependency-watchdog.gardener.cloud/kubelets';

/** True if that value of `kubeletsAnnotation` keeps the kubelet of the node from its API server. */
export const isCutOff = (value: string | undefined, node: string): boolean =>
  value === 'cut' || (value === 'late' && Number(node.split('-').at(-1)) % 2 === 0);

/** On the same object of a shoot with `controlPlanePods`: `down` keeps its etcd from being ready, absent lets it. */
export const etcdAnnotation = 'simulation.dependency-watchdog.gardener.cloud/etcd';

/** There, too: names of Deployments, separated by commas, whose programs exit whatever is there. */
export const crashingAnnotation = 'simulation.dependency-watchdog.gardener.cloud/crashing';

export const nodeLeaseNamespace = 'kube-node-lease';
export const poolLabel = 'worker.gardener.cloud/pool';

export interface PoolInit {
  readonly name: string;
  readonly nodes: number;
  /** What the cluster-autoscaler leaves at least. Default: `nodes`. */
  readonly minimum?: number;
  /** Default: what MCM takes for unhealthy by itself. */
  readonly nodeConditions?: readonly string[];
}

export interface ShootInit {
  readonly name: string;
  /** Of a cluster of Cluster API, several of which may share a namespace. Default: `fleet`, and its name. */
  readonly place?: {
    readonly namespace: string;
    readonly cluster: string;
    /** Of objects, by component; others begin with that of the cluster. */
    readonly names?: Readonly<Record<string, string>>;
  };
  /** Of the one pool `worker`, where `pools` are not given. Default 5. */
  readonly nodes?: number;
  readonly pools?: readonly PoolInit[];
  /** The shoot's own node monitor grace period, in milliseconds. Default: none, `WorldTiming.graceMs` holds. */
  readonly nodeMonitorGraceMs?: number;
  /** Default: a reconciliation that succeeded. */
  readonly lastOperation?: { readonly type: string; readonly state: string };
  /** Replicas of its Deployments. Default: one each; 0 leaves the Deployment out. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** Gives its control plane etcd, kube-apiserver and kube-scheduler too, and all of it pods that crash-loop. Default false. */
  readonly controlPlanePods?: boolean;
  /** Adds what its health is read from: conditions, Etcds, ManagedResources, extensions, an end of the tunnel. Default false. */
  readonly careObjects?: boolean;
}

/** Of its project and name, as gardenlet makes it; also the Cluster's name. */
export const technicalName = (shoot: string): string => `shoot--sim--${shoot}`;

/** Of its Shoot in the garden, `status.uid`. */
const uidOf = ({ name }: ShootInit): string => `uid-of-${name}`;

/** As gardenlet names the BackupEntry of a shoot. */
export const backupEntryName = (init: ShootInit): string => `${technicalName(init.name)}--${uidOf(init)}`;

export const poolsOf = ({ nodes = 5, pools }: ShootInit): readonly PoolInit[] => pools ?? [{ name: 'worker', nodes }];

export const namespaceObject = (name: string): SimDraft => ({
  metadata: { name, labels: { 'gardener.cloud/role': 'shoot' } },
});

/** `ms` since the epoch. */
export const clusterObject = (init: ShootInit, ms: number): SimDraft => {
  const workers = poolsOf(init).map(({ name, nodes, minimum = nodes, nodeConditions }) => ({
    name,
    minimum,
    maximum: nodes + 2,
    machine: { type: 'large' },
    ...(nodeConditions === undefined ? {} : { machineControllerManager: { nodeConditions } }),
  }));
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
  return { metadata: { name: technicalName(init.name) }, spec: { cloudProfile: {}, seed: {}, shoot } };
};

/** Up and ready. */
export const deploymentObject = (namespace: string, name: string, replicas: number): SimDraft => {
  const labels = { app: 'kubernetes', role: name };
  return {
    metadata: { name, namespace, labels: { ...labels, 'gardener.cloud/role': 'controlplane' } },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name, image: `simulated/${name}:v1` }] } },
    },
    status: {
      observedGeneration: 1,
      replicas,
      updatedReplicas: replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
    },
  };
};

export interface MachineInit {
  readonly namespace: string;
  readonly name: string;
  readonly pool: string;
  readonly phase: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A Machine; its node bears the same name. */
export const machineObject = ({ namespace, name, pool, phase, since }: MachineInit): SimDraft => ({
  metadata: { name, namespace, labels: { node: name, name: `${namespace}-${pool}` } },
  spec: { class: { kind: 'MachineClass', name: `${namespace}-${pool}` }, providerID: `simulated:///${name}` },
  status: { currentStatus: { phase, lastUpdateTime: formatTime(since) } },
});

/** What a kubelet posts of itself; `NetworkUnavailable` is not its own. */
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

/** The conditions of a healthy node; a transition keeps its time where the status stays as it is in `before`. */
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

export const nodeObject = (name: string, pool: string, ms: number): SimDraft => ({
  metadata: {
    name,
    labels: { [poolLabel]: pool, 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': 'sim-a' },
  },
  spec: { providerID: `simulated:///${name}` },
  status: { conditions: healthyConditions(ms, []), nodeInfo: { kubeletVersion: 'v1.33.2' } },
});

/** Milliseconds; `renewedAt` since the epoch by the node's clock. */
export const leaseObject = (name: string, { renewedAt, renewMs }: LeaseTimes): SimDraft => ({
  metadata: { name, namespace: nodeLeaseNamespace },
  spec: {
    holderIdentity: name,
    // A kubelet renews after a quarter of it (`nodeLeaseRenewIntervalFraction` in kubernetes pkg/kubelet/kubelet.go).
    leaseDurationSeconds: Math.ceil((4 * renewMs) / 1_000),
    renewTime: formatMicroTime(renewedAt),
  },
});

export interface LeaseTimes {
  readonly renewedAt: number;
  readonly renewMs: number;
}
