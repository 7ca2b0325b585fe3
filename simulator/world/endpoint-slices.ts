import {
  type JsonMap,
  type SimDraft,
  type SimObject,
  type SimRef,
  type SimStore,
  asList,
  asMap,
  getPath,
  simKinds,
} from '../apiserver/index.ts';
import { isReady } from './pod-status.ts';
import { controlledBy } from './workloads.ts';

const serviceName = 'kubernetes.io/service-name';

const selects = ({ spec }: SimObject, pod: SimObject): boolean =>
  Object.entries(asMap(asMap(spec).selector)).every(([key, value]) => pod.metadata.labels?.[key] === value);

/** `podToEndpoint` in https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/endpointslice/utils.go */
const endpointOf = (pod: SimObject): JsonMap => {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  return {
    addresses: [getPath(pod, ['status', 'podIP'])],
    conditions: { ready: serving && !terminating, serving, terminating },
    nodeName: getPath(pod, ['spec', 'nodeName']),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
};

const sliceOf = (service: SimObject, pods: readonly SimObject[]): SimDraft => {
  const { name, namespace, labels } = service.metadata;
  // A pod without an address has no endpoint (`ShouldPodBeInEndpoints`).
  const endpoints = pods.filter((pod) => asMap(pod.status).podIP !== undefined).map(endpointOf);
  return {
    metadata: {
      name: `${name}-slice`,
      namespace,
      labels: {
        ...labels,
        [serviceName]: name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [controlledBy(service)],
    },
    addressType: 'IPv4',
    // The API server stores an empty list as null.
    endpoints: endpoints.length === 0 ? null : endpoints,
    ports: asMap(service.spec).ports,
  };
};

/**
 * Starts the EndpointSlice controller of one namespace: each of its Services gets one EndpointSlice of the pods that it selects.
 */
export const startEndpointSlices = (store: SimStore, namespace: string): (() => void) => {
  const write = (service: SimObject): void => {
    const pods = store.list(simKinds.Pod, namespace).filter((pod) => selects(service, pod));
    store.put(simKinds.EndpointSlice, sliceOf(service, pods));
  };

  const onPod = (pod: SimObject): void => {
    for (const service of store.list(simKinds.Service, namespace)) if (selects(service, pod)) write(service);
  };

  for (const service of store.list(simKinds.Service, namespace)) write(service);
  return store.subscribe(simKinds.Pod, ({ object }) => onPod(object), namespace);
};

/** True if any endpoint is ready. An endpoint without the condition counts as ready, a terminating one never does. */
const hasReadyEndpoint = (slices: readonly SimObject[]): boolean =>
  slices
    .flatMap(({ endpoints }) => asList(endpoints))
    .map((endpoint) => asMap(asMap(endpoint).conditions))
    .some(({ ready, terminating }) => ready !== false && terminating !== true);

export const isServiceReady = (store: SimStore, { namespace, name }: SimRef): boolean =>
  hasReadyEndpoint(
    store.list(simKinds.EndpointSlice, namespace).filter(({ metadata }) => metadata.labels?.[serviceName] === name),
  );
