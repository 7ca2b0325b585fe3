import { type Call, smallAnswerBytes } from '../kubernetes/api/call.ts';
import { leaseListBounds, listCall, nodeListBounds, nodePageSize } from '../kubernetes/api/list-call.ts';
import { type Lease, decodeLease } from './leases.ts';
import { type MachineView, type NodeView, decodeMachine, decodeNode } from './nodes.ts';
import { leaseListType, nodeListType } from './probe-protobuf.ts';

/** `GET /version`: whether the API server answers at all. Its status says so, and the rest is not read. */
export const getVersion: Call<undefined> = {
  method: 'GET',
  path: '/version',
  bytes: smallAnswerBytes,
  ignoresBody: true,
  decode: () => undefined,
};

/**
 * One page, and no `resourceVersion`: a list from the API server's cache would look like an outage. `names`: those of the latest list, which
 * save the making of new strings.
 */
export const listNodeLeasesAgain = (names: readonly string[]): Call<readonly Lease[]> =>
  listCall({
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    kind: 'LeaseList',
    decode: decodeLease,
    protobuf: leaseListType(names),
    nameOf: ({ name }) => name,
    pageSize: 'none',
    bounds: leaseListBounds,
  });

export const listNodeLeases: Call<readonly Lease[]> = listNodeLeasesAgain([]);

export const listNodes: Call<readonly NodeView[]> = listCall({
  path: '/api/v1/nodes',
  kind: 'NodeList',
  decode: decodeNode,
  protobuf: nodeListType,
  nameOf: ({ name }) => name,
  pageSize: nodePageSize,
  bounds: nodeListBounds,
});

export const listMachines = (namespace: string): Call<readonly MachineView[]> =>
  listCall({
    path: `/apis/machine.sapcloud.io/v1alpha1/namespaces/${encodeURIComponent(namespace)}/machines`,
    kind: 'MachineList',
    decode: decodeMachine,
  });
