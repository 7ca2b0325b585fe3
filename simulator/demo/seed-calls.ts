import { decodeMachine } from '../../src/gardener/machine.ts';
import type { ComponentStatus, NodeStatus, PodStatus, ShootSnapshot } from './snapshot.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import {
  type JsonObject,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalInteger,
  optionalList,
  optionalObject,
  optionalString,
} from '../../src/kubernetes/api/decode.ts';
import { parseGoDuration } from '../../src/kubernetes/api/duration.ts';
import { listCall } from '../../src/kubernetes/api/list-call.ts';
import { decodeScalable, workloadState } from '../../src/kubernetes/api/scalable.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../src/annotations/scaling-annotations.ts';
import { etcdAnnotation, kubeletsAnnotation } from '../world/index.ts';
import type { WorldSource } from '../world/index.ts';
import { steeringPath } from './faults.ts';

/** A value from an object of the seed, with the object's namespace. */
export interface InNamespace<T> {
  readonly namespace: string;
  readonly value: T;
}

const listOf = <T>(path: string, decode: (json: unknown, path: string) => T): Call<readonly InNamespace<T>[]> =>
  listCall({
    path,
    decode: (json, where) => ({
      namespace: decodeMeta(decodeObject(json, where), where).namespace,
      value: decode(json, where),
    }),
  });

const decodeComponent = (json: unknown, path: string): ComponentStatus => {
  const object = decodeScalable(json, path);
  const { annotations, specReplicas, readyReplicas } = workloadState(object);
  const stored = annotations[replicasAnnotation];
  return {
    name: object.meta.name,
    resourceVersion: Number(object.meta.resourceVersion),
    replicas: specReplicas,
    readyReplicas,
    active: Object.hasOwn(annotations, meltdownProtectionAnnotation),
    ...(stored === undefined ? {} : { stored }),
  };
};

/** Reads the back-off from the kubelet's message, `back-off 40s restarting failed container=...`, and the container's `finishedAt` (resolution 1 s). */
const backOffOf = (status: JsonObject, path: string): PodStatus['backOff'] => {
  const state = optionalObject(status.state, path) ?? {};
  const waiting = optionalObject(state.waiting, path) ?? {};
  if (waiting.reason !== 'CrashLoopBackOff') return undefined;
  const duration = parseGoDuration(/^back-off (\S+)/.exec(optionalString(waiting.message, path) ?? '')?.[1] ?? '');
  const lastState = optionalObject(status.lastState, path) ?? {};
  const { finishedAt } = optionalObject(lastState.terminated, path) ?? {};
  const ms = duration.ok ? duration.value : 0;
  return { ms, endsAt: Date.parse(optionalString(finishedAt, path) ?? '') + ms };
};

const decodePod = (json: unknown, path: string): PodStatus => {
  const object = decodeObject(json, path);
  const { name, uid, deleting } = decodeMeta(object, path);
  const spec = decodeObject(object.spec, `${path}.spec`);
  const [container] = optionalList(spec.containers, `${path}.spec.containers`) ?? [];
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const [first] = optionalList(status.containerStatuses, `${path}.status`) ?? [];
  const containerStatus = first === undefined ? {} : decodeObject(first, `${path}.status.containerStatuses`);
  const backOff = backOffOf(containerStatus, `${path}.status.containerStatuses`);
  return {
    name,
    uid,
    component: decodeString(decodeObject(container, `${path}.spec.containers`).name, `${path}.spec.containers`),
    deleting,
    restarts: optionalInteger(containerStatus.restartCount, `${path}.status`) ?? 0,
    ...(backOff === undefined ? {} : { backOff }),
  };
};

/** Returns the pod that an Event of the weeder is about; undefined for all other Events. */
const decodeWeeded = (json: unknown, path: string): ShootSnapshot['weeded'][number] | undefined => {
  const event = decodeObject(json, path);
  if (event.reason !== 'DependencyReady') return undefined;
  return {
    pod: decodeString(decodeObject(event.involvedObject, `${path}.involvedObject`).name, `${path}.involvedObject`),
    resourceVersion: Number(decodeMeta(event, path).resourceVersion),
  };
};

/** Current faults of a shoot, by the annotations on its Cluster or its Namespace. */
export interface Faults {
  readonly isCut: boolean;
  readonly isEtcdDown: boolean;
}

export const listFaults = (source: WorldSource): Call<readonly InNamespace<Faults>[]> =>
  listCall({
    path: steeringPath[source],
    decode: (json, path) => {
      const { name, annotations } = decodeMeta(decodeObject(json, path), path);
      const isCut = annotations[kubeletsAnnotation] === 'cut';
      return { namespace: name, value: { isCut, isEtcdDown: annotations[etcdAnnotation] === 'down' } };
    },
  });

export const listDeployments = listOf('/apis/apps/v1/deployments', decodeComponent);
export const listStatefulSets = listOf('/apis/apps/v1/statefulsets', decodeComponent);

export const listMachineNames = listOf(
  '/apis/machine.sapcloud.io/v1alpha1/machines',
  (json, path) => decodeMachine(json, path).node,
);

export const listPods = listOf('/api/v1/pods', decodePod);

/** Lists the pods that the weeder has deleted, by its Events; undefined for each other Event. */
export const listWeeded = listOf('/api/v1/events', decodeWeeded);

const decodeNode = (json: unknown, path: string): NodeStatus => {
  const object = decodeObject(json, path);
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const conditions = (optionalList(status.conditions, `${path}.status.conditions`) ?? []).map((item) =>
    decodeObject(item, `${path}.status.conditions`),
  );
  const ready = conditions.find(({ type }) => type === 'Ready');
  return { name: decodeMeta(object, path).name, ready: optionalString(ready?.status, `${path}.status`) ?? 'absent' };
};

/** Lists the nodes of a shoot, without the renew times of their leases. */
export const listNodes = listCall({ path: '/api/v1/nodes', decode: decodeNode });
