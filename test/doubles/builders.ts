/**
 * Builds Kubernetes objects as an API server sends them. By default they are healthy and ready, without annotations of ours.
 */

export interface MetaOptions {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly resourceVersion?: string;
  readonly generation?: number;
}

/** Formats a time as `metav1.MicroTime`, as kubelets write it. */
export const microTime = (epochMs: number): string => new Date(epochMs).toISOString().replace('Z', '000Z');

const buildMeta = ({ labels = {}, annotations = {}, resourceVersion = '1', ...others }: MetaOptions) => ({
  name: others.name,
  namespace: others.namespace,
  uid: `uid-of-${others.name}`,
  resourceVersion,
  generation: others.generation,
  labels,
  annotations,
});

/** The entry that an API server keeps for `spec.renewTime`, with its own time of the renewal, to the second. */
const renewalStamp = (renewTime: string) => ({
  manager: 'kubelet',
  operation: 'Update',
  time: `${renewTime.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`,
  fieldsV1: { 'f:spec': { 'f:renewTime': {} } },
});

/** Builds a Lease that the API server has stamped at its renewal. */
export const buildLease = (options: { readonly name: string; readonly renewTime?: string | null }) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    ...buildMeta({ name: options.name, namespace: 'kube-node-lease' }),
    managedFields: options.renewTime ? [renewalStamp(options.renewTime)] : undefined,
  },
  spec: { holderIdentity: options.name, leaseDurationSeconds: 40, renewTime: options.renewTime },
});

export interface ConditionOptions {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
}

/** Builds a Node; `pool: null` omits the label. */
export const buildNode = (options: {
  readonly name: string;
  readonly pool?: string | null;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly conditions?: readonly ConditionOptions[];
}) => {
  const { name, pool = 'worker', annotations = {}, conditions = [] } = options;
  const labels: Readonly<Record<string, string>> = pool === null ? {} : { 'worker.gardener.cloud/pool': pool };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: buildMeta({ name, labels, annotations }),
    status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }, ...conditions] },
  };
};

/** Builds a Machine. `node: null`: its node has not joined yet; `phase: null`: it has no status. */
export const buildMachine = (options: {
  readonly name: string;
  readonly namespace?: string;
  readonly node?: string | null;
  readonly phase?: string | null;
}) => {
  const { name, namespace = 'shoot--dev--one', node = name, phase = 'Running' } = options;
  const labels: Readonly<Record<string, string>> = node === null ? {} : { node };
  return {
    apiVersion: 'machine.sapcloud.io/v1alpha1',
    kind: 'Machine',
    metadata: buildMeta({ name, namespace, labels }),
    status: phase === null ? undefined : { currentStatus: { phase } },
  };
};

export interface ShootOptions {
  readonly deletionTimestamp?: string;
  readonly hibernationEnabled?: boolean;
  readonly hibernated?: boolean;
  /** Null if the creation has not begun. */
  readonly lastOperation?: { readonly type: string; readonly state: string } | null;
  /** Names of worker pools, or pools with their own node conditions. */
  readonly workers?: readonly (string | { readonly name: string; readonly nodeConditions: readonly string[] })[];
  readonly nodeMonitorGracePeriod?: string;
}

/** Builds a Shoot of `core.gardener.cloud/v1beta1`, as a Cluster embeds it. */
export const buildShoot = (options: ShootOptions = {}) => {
  const { lastOperation = { type: 'Reconcile', state: 'Succeeded' }, workers = ['worker'] } = options;
  const { deletionTimestamp, hibernationEnabled, hibernated, nodeMonitorGracePeriod } = options;
  return {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { name: 'one', namespace: 'garden-dev', deletionTimestamp },
    spec: {
      hibernation: { enabled: hibernationEnabled },
      provider: {
        type: 'local',
        workers: workers.map((worker) =>
          typeof worker === 'string'
            ? { name: worker }
            : { name: worker.name, machineControllerManager: { nodeConditions: worker.nodeConditions } },
        ),
      },
      kubernetes: { version: '1.33.0', kubeControllerManager: { nodeMonitorGracePeriod } },
    },
    status: { hibernated, lastOperation: lastOperation && { ...lastOperation, progress: 100 } },
  };
};

/** Builds a Cluster. `shoot` may be any value, because a Cluster embeds it unchecked. */
export const buildCluster = (options: { readonly name?: string; readonly shoot?: unknown } = {}) => {
  const { name = 'shoot--dev--one', shoot = buildShoot() } = options;
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: buildMeta({ name }),
    spec: { cloudProfile: {}, seed: {}, shoot },
  };
};

/** Builds a Deployment. By default its replicas are ready and its latest generation is observed. */
export const buildDeployment = (
  options: Partial<MetaOptions> & {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly observedGeneration?: number;
  } = {},
) => {
  const { name = 'kube-controller-manager', namespace = 'shoot--dev--one', generation = 1, replicas = 1 } = options;
  const { readyReplicas = replicas, observedGeneration = generation } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: buildMeta({ ...options, name, namespace, generation }),
    spec: { replicas },
    // Go omits a count of 0.
    status: { observedGeneration, replicas: readyReplicas || undefined, readyReplicas: readyReplicas || undefined },
  };
};
