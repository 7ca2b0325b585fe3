import { childObject, decodeMeta, decodeObject, optionalString } from '../kubernetes/api/decode.ts';

/** Label of all objects that belong to a Cluster; its value is the Cluster's name (`ClusterNameLabel` in sigs.k8s.io/cluster-api/api/core). */
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';

/** A Machine (`cluster.x-k8s.io`, v1beta1 or v1beta2; these fields are the same in both). */
export interface CapiMachine {
  /** Name of its Cluster, which is in the same namespace. */
  readonly cluster: string;
  /** Name of its Node; empty until the Node has joined. */
  readonly node: string;
  /** `status.phase`, such as `Running`; empty while there is none. */
  readonly phase: string;
  readonly deleting: boolean;
}

export const decodeCapiMachine = (json: unknown, path: string): CapiMachine => {
  const object = decodeObject(json, path);
  const { deleting } = decodeMeta(object, path);
  const status = childObject(object, path, 'status');
  const nodeRef = childObject(status, `${path}.status`, 'nodeRef');
  return {
    cluster: optionalString(childObject(object, path, 'spec').clusterName, `${path}.spec.clusterName`) ?? '',
    node: optionalString(nodeRef.name, `${path}.status.nodeRef.name`) ?? '',
    phase: optionalString(status.phase, `${path}.status.phase`) ?? '',
    deleting,
  };
};
