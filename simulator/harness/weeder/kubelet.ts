import type { Clock } from '../../../src/ports/clock.ts';
import { type SimObject, type SimStore, simKinds } from '../../apiserver/index.ts';

export interface PodInit {
  readonly namespace: string;
  readonly name: string;
  /** Name of the ReplicaSet that controls the pod, or another controller; null: none. Default: the pod's name without its last part. */
  readonly owner?: string | OwnerInit | null;
  readonly labels?: Readonly<Record<string, string>>;
}

interface OwnerInit {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
}

const apiserverLabels = { 'gardener.cloud/role': 'controlplane', role: 'apiserver' };
export const schedulerLabels = { 'gardener.cloud/role': 'controlplane', role: 'scheduler' };

const ownerReferencesOf = ({ name, owner = name.replace(/-[^-]*$/, '') }: PodInit): object => {
  if (owner === null) return {};
  const reference = typeof owner === 'string' ? { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner } : owner;
  return { ownerReferences: [{ ...reference, uid: `uid-of-${reference.name}`, controller: true }] };
};

const draft = (pod: PodInit, state: object): SimObject => {
  const { namespace, name, labels = apiserverLabels } = pod;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels, ...ownerReferencesOf(pod) },
    spec: { nodeName: 'node', containers: [{ name: 'main' }] },
    status: { phase: 'Running', containerStatuses: [{ name: 'main', state }] },
  } as unknown as SimObject;
};

/**
 * Lets a test write what a kubelet and the endpoint slice controller would write. Removes pods as soon as they have a deletionTimestamp,
 * because the weeder does not wait for grace periods.
 */
export const startKubelet = (store: SimStore, clock: Clock) => {
  const startedAt = clock.monotonic();
  const deleted: string[] = [];
  store.subscribe(simKinds.Pod, ({ type, object, previous }) => {
    const { name, namespace = '', deletionTimestamp } = object.metadata;
    if (type !== 'MODIFIED' || deletionTimestamp === undefined) return;
    if (previous?.metadata.deletionTimestamp !== undefined) return;
    const seconds = (clock.monotonic() - startedAt) / 1_000;
    deleted.push(`${namespace}/${name} at ${seconds.toFixed(1)}`);
    store.remove(simKinds.Pod, { namespace, name });
  });
  const sliceOf = (service: ServiceRef) => ({
    namespace: service.namespace,
    name: `${service.name}-abcde`,
  });
  return {
    /** Writes a running pod. */
    run: (pod: PodInit): void => void store.put(simKinds.Pod, draft(pod, { running: {} })),
    /** Writes a pod in CrashLoopBackOff, new or existing. */
    crash: (pod: PodInit): void =>
      void store.put(simKinds.Pod, draft(pod, { waiting: { reason: 'CrashLoopBackOff' } })),
    endpoints: (service: ServiceRef, ...ready: readonly boolean[]): void =>
      void store.put(simKinds.EndpointSlice, {
        metadata: { ...sliceOf(service), labels: { 'kubernetes.io/service-name': service.name } },
        addressType: 'IPv4',
        endpoints: ready.map((isReady, index) => ({
          addresses: [`10.0.0.${String(index + 1)}`],
          conditions: { ready: isReady },
        })),
      }),
    removeEndpoints: (service: ServiceRef): void => void store.remove(simKinds.EndpointSlice, sliceOf(service)),
    /** Names of the deleted pods, with the seconds since the fixture was created. */
    deleted: deleted as readonly string[],
  };
};

export type Kubelet = ReturnType<typeof startKubelet>;
