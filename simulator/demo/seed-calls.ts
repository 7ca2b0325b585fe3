import { decodeMachine } from '../../src/gardener/machine.ts';
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
import { meltdownProtectionAnnotation, decodeScalable, replicasAnnotation } from '../../src/kubernetes/api/scalable.ts';
import { etcdAnnotation, kubeletsAnnotation } from '../world/index.ts';
import type { DeploymentSnapshot, PodSnapshot } from './snapshot.ts';

/** Something of the seed, with the namespace that it is in. */
export interface Placed<T> {
  readonly namespace: string;
  readonly value: T;
}

const listOf = <T>(path: string, decode: (json: unknown, path: string) => T): Call<readonly Placed<T>[]> =>
  listCall({
    path,
    decode: (json, where) => ({
      namespace: decodeMeta(decodeObject(json, where), where).namespace,
      value: decode(json, where),
    }),
  });

const decodeDeployment = (json: unknown, path: string): DeploymentSnapshot => {
  const { meta, specReplicas = 1, readyReplicas = 0 } = decodeScalable(json, path);
  const stored = meta.annotations[replicasAnnotation];
  return {
    name: meta.name,
    replicas: specReplicas,
    readyReplicas,
    active: Object.hasOwn(meta.annotations, meltdownProtectionAnnotation),
    ...(stored === undefined ? {} : { stored }),
  };
};

/** From the kubelet's message, `back-off 40s restarting failed container=...`, and the end of the container (resolution 1 s). */
const backOffOf = (status: JsonObject, path: string): PodSnapshot['backOff'] => {
  const state = optionalObject(status.state, path) ?? {};
  const waiting = optionalObject(state.waiting, path) ?? {};
  if (waiting.reason !== 'CrashLoopBackOff') return undefined;
  const duration = parseGoDuration(/^back-off (\S+)/.exec(optionalString(waiting.message, path) ?? '')?.[1] ?? '');
  const lastState = optionalObject(status.lastState, path) ?? {};
  const { finishedAt } = optionalObject(lastState.terminated, path) ?? {};
  const ms = duration.ok ? duration.value : 0;
  return { ms, endsAt: Date.parse(optionalString(finishedAt, path) ?? '') + ms };
};

const decodePod = (json: unknown, path: string): PodSnapshot => {
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
    ready: containerStatus.ready === true,
    deleting,
    restarts: optionalInteger(containerStatus.restartCount, `${path}.status`) ?? 0,
    ...(backOff === undefined ? {} : { backOff }),
  };
};

/** The name of the pod that an Event of the weeder tells of; undefined for all other Events. */
const decodeWeeded = (json: unknown, path: string): string | undefined => {
  const { reason, involvedObject } = decodeObject(json, path);
  if (reason !== 'DependencyReady') return undefined;
  return decodeString(decodeObject(involvedObject, `${path}.involvedObject`).name, `${path}.involvedObject`);
};

/** What annotations on a Cluster do to its shoot. */
export const listFaults: Call<readonly Placed<{ readonly isCut: boolean; readonly isEtcdDown: boolean }>[]> = listCall({
  path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
  decode: (json, path) => {
    const { name, annotations } = decodeMeta(decodeObject(json, path), path);
    const isCut = annotations[kubeletsAnnotation] === 'cut';
    return { namespace: name, value: { isCut, isEtcdDown: annotations[etcdAnnotation] === 'down' } };
  },
});

export const listDeployments = listOf('/apis/apps/v1/deployments', decodeDeployment);

export const listMachineNames = listOf(
  '/apis/machine.sapcloud.io/v1alpha1/machines',
  (json, path) => decodeMachine(json, path).node,
);

export const listPods = listOf('/api/v1/pods', decodePod);

/** Names of pods that the weeder has deleted, by its Events; undefined for each other Event. */
export const listWeeded = listOf('/api/v1/events', decodeWeeded);
