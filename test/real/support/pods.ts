import type { TestClient } from '../../envtest/client.ts';

export interface PodSpec {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Name of a sidecar beside the container `main`. */
  readonly sidecar?: string;
  /** `restartCount` of a crashing container; by default 3. */
  readonly restarts?: number;
}

export interface PodObject {
  readonly metadata: {
    readonly name: string;
    readonly deletionTimestamp?: string;
  };
}

const podPath = (namespace: string, name = ''): string =>
  `/api/v1/namespaces/${namespace}/pods/${name}`.replace(/\/$/, '');

/** Creates a pod of a ReplicaSet, bound to a node, so that its grace period applies, that the kubelet has not yet reported on. */
export const createPod = (client: TestClient, { namespace, name, labels, sidecar }: PodSpec): Promise<PodObject> => {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `uid-of-${name}`, controller: true };
  return client.create(podPath(namespace), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, ownerReferences: [owner] },
    spec: {
      nodeName: 'node',
      terminationGracePeriodSeconds: 7,
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'none' }],
      initContainers: sidecar === undefined ? [] : [{ name: sidecar, image: 'none', restartPolicy: 'Always' }],
    },
  });
};

const statusOf = (name: string, crashing: readonly string[], restarts = 3) => ({
  name,
  image: 'none',
  imageID: '',
  ready: !crashing.includes(name),
  restartCount: crashing.includes(name) ? restarts : 0,
  state: crashing.includes(name)
    ? { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } }
    : { running: { startedAt: new Date().toISOString() } },
});

/** Writes, as the kubelet would, which of the pod's containers crash-loop. */
export const setCrashing = (client: TestClient, pod: PodSpec, crashing: readonly string[]): Promise<unknown> =>
  client.patch(`${podPath(pod.namespace, pod.name)}/status`, {
    status: {
      phase: 'Running',
      containerStatuses: [statusOf('main', crashing, pod.restarts)],
      initContainerStatuses: pod.sidecar === undefined ? [] : [statusOf(pod.sidecar, crashing)],
    },
  });

export const listPods = (client: TestClient, namespace: string): Promise<readonly PodObject[]> =>
  client.list<PodObject>(podPath(namespace));

export interface SliceSpec {
  readonly namespace: string;
  readonly service: string;
  /** `ready` of each endpoint. */
  readonly ready: readonly boolean[];
}

/** Writes the one EndpointSlice of a service, as the endpoint slice controller would. */
export const setEndpoints = (client: TestClient, { namespace, service, ready }: SliceSpec): Promise<unknown> =>
  client.apply(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${service}-abcde`, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${service}-abcde`, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    endpoints: ready.map((isReady, index) => ({
      addresses: [`10.0.0.${String(index + 1)}`],
      conditions: { ready: isReady, serving: isReady, terminating: false },
    })),
    ports: [{ name: 'client', port: 2379, protocol: 'TCP' }],
  });
