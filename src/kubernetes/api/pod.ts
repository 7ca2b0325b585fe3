import type { Call } from './call.ts';
import {
  type JsonObject,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
} from './decode.ts';
import { resourcePath } from './resource-path.ts';

/** The owner reference with `controller: true`. */
export interface ControllerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly uid: string;
}

/** A pod as the weeder sees it. */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  readonly controller?: ControllerReference;
  /** Names of all containers in CrashLoopBackOff, init and ephemeral ones included. */
  readonly crashLooping: readonly string[];
}

/** `state.waiting.reason` of a container in back-off after a crash (k8s.io/kubernetes/pkg/kubelet/images/types and kuberuntime). */
const crashLoopBackOff = 'CrashLoopBackOff';

const statusLists = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;

const crashLoopingIn = (status: JsonObject, path: string): readonly string[] =>
  statusLists.flatMap((list) =>
    (optionalList(status[list], `${path}.${list}`) ?? []).flatMap((entry, index) => {
      const where = `${path}.${list}[${String(index)}]`;
      const container = decodeObject(entry, where);
      const state = optionalObject(container.state, `${where}.state`) ?? {};
      const waiting = optionalObject(state.waiting, `${where}.state.waiting`) ?? {};
      const reason = optionalString(waiting.reason, `${where}.state.waiting.reason`);
      return reason === crashLoopBackOff ? [decodeString(container.name, `${where}.name`)] : [];
    }),
  );

const controllerIn = (metadata: JsonObject, path: string): ControllerReference | undefined => {
  const owners = optionalList(metadata.ownerReferences, `${path}.ownerReferences`) ?? [];
  const references = owners.map((owner, index) => decodeObject(owner, `${path}.ownerReferences[${String(index)}]`));
  const found = references.find((owner) => optionalBoolean(owner.controller, `${path}.ownerReferences.controller`));
  if (found === undefined) return undefined;
  const textOf = (field: string): string => decodeString(found[field], `${path}.ownerReferences.${field}`);
  return { apiVersion: textOf('apiVersion'), kind: textOf('kind'), uid: textOf('uid') };
};

export const decodePod = (json: unknown, path: string): PodView => {
  const object = decodeObject(json, path);
  const { namespace, name, uid, resourceVersion, deleting } = decodeMeta(object, path);
  const controller = controllerIn(decodeObject(object.metadata, `${path}.metadata`), `${path}.metadata`);
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    deleting,
    controller,
    crashLooping: crashLoopingIn(status, `${path}.status`),
  };
};

/** A pod at the shoot's end of the tunnel to its control plane. */
export interface TunnelPod {
  readonly name: string;
  /** Value of the label `app`; empty if absent. */
  readonly app: string;
  readonly running: boolean;
}

export const decodeTunnelPod = (json: unknown, path: string): TunnelPod => {
  const object = decodeObject(json, path);
  const { name, labels } = decodeMeta(object, path);
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  return { name, app: labels.app ?? '', running: optionalString(status.phase, `${path}.status.phase`) === 'Running' };
};

/**
 * Deletes the pod only in the state in which it was seen: if it was replaced or has recovered since, the response is a Conflict. The pod's own termination
 * grace period applies.
 */
export const deletePod = ({ namespace, name, uid, resourceVersion }: PodView): Call<undefined> => ({
  method: 'DELETE',
  path: resourcePath({ apiVersion: 'v1', resource: 'pods', namespace, name }),
  body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } },
  decode: () => undefined,
});
