import type { Call } from '../kubernetes/api/call.ts';
import { childObject, decodeMeta, decodeObject, optionalString } from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';

/** A Machine (`machine.sapcloud.io/v1alpha1`). */
export interface Machine {
  /** Name of its Node (label `node`); empty until the machine has joined. */
  readonly node: string;
  /** `status.currentStatus.phase`, empty while there is none. */
  readonly phase: string;
  readonly deleting: boolean;
}

export const decodeMachine = (json: unknown, path: string): Machine => {
  const object = decodeObject(json, path);
  const { labels, deleting } = decodeMeta(object, path);
  const current = childObject(childObject(object, path, 'status'), `${path}.status`, 'currentStatus');
  return {
    node: labels.node ?? '',
    phase: optionalString(current.phase, `${path}.status.currentStatus.phase`) ?? '',
    deleting,
  };
};

/** Path of a collection of a kind of machine-controller-manager. */
export const machineCollection = (namespace: string, resource: string): string =>
  resourcePath({ apiVersion: 'machine.sapcloud.io/v1alpha1', resource, namespace });

export const listMachines = (namespace: string): Call<readonly Machine[]> =>
  listCall({ path: machineCollection(namespace, 'machines'), kind: 'MachineList', decode: decodeMachine });
