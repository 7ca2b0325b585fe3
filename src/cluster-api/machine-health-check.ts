import { type ObjectMeta, childObject, decodeMeta, decodeObject, optionalString } from '../kubernetes/api/decode.ts';
import { isPaused } from './paused.ts';

/** A MachineHealthCheck (`cluster.x-k8s.io`, v1beta1 or v1beta2): it replaces the Machines of unhealthy nodes. */
export interface MachineHealthCheck {
  readonly meta: ObjectMeta;
  /** Name of its Cluster, in its namespace. */
  readonly cluster: string;
  readonly paused: boolean;
}

export const decodeMachineHealthCheck = (json: unknown, path: string): MachineHealthCheck => {
  const object = decodeObject(json, path);
  const meta = decodeMeta(object, path);
  return {
    meta,
    cluster: optionalString(childObject(object, path, 'spec').clusterName, `${path}.spec.clusterName`) ?? '',
    paused: isPaused(meta.annotations),
  };
};
