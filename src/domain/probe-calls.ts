import type { Call } from './calls.ts';
import { decodeList, decodeObject } from './decode.ts';
import { type Lease, decodeLease } from './leases.ts';
import { type MachineView, type NodeView, decodeMachine, decodeNode } from './nodes.ts';
import { readLeaseList, readNodeList } from './probe-protobuf.ts';

/** `GET /version`: whether the API server answers at all; what it answers must be an object, or a proxy spoke in its place. */
export const getVersion: Call<undefined> = {
  method: 'GET',
  path: '/version',
  decode: (json) => {
    decodeObject(json, 'version');
    return undefined;
  },
};

/** One page, and no `resourceVersion`: a list from the API server's cache would look like an outage. */
export const listNodeLeases: Call<readonly Lease[]> = {
  method: 'GET',
  path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  decode: decodeList(decodeLease, 'LeaseList'),
  protobuf: readLeaseList([]),
};

/** The same list, by somebody who knows the names of the latest one. */
export const listNodeLeasesAgain = (names: readonly string[]): Call<readonly Lease[]> => ({
  ...listNodeLeases,
  protobuf: readLeaseList(names),
});

export const listNodes: Call<readonly NodeView[]> = {
  method: 'GET',
  path: '/api/v1/nodes',
  decode: decodeList(decodeNode, 'NodeList'),
  protobuf: readNodeList,
};

export const listMachines = (namespace: string): Call<readonly MachineView[]> => ({
  method: 'GET',
  path: `/apis/machine.sapcloud.io/v1alpha1/namespaces/${encodeURIComponent(namespace)}/machines`,
  decode: decodeList(decodeMachine, 'MachineList'),
});
