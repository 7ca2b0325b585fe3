import { daemonEndpoints, nodeCondition, nodeInfo } from '../kube-protobuf.ts';
import { objectMeta } from './meta.ts';
import type { BodyMessage } from './read.ts';

export const node: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [
    2,
    {
      podCIDR: [1, 'string'],
      providerID: [3, 'string'],
      unschedulable: [4, 'bool'],
      taints: [5, [{ key: [1, 'string'], value: [2, 'string'], effect: [3, 'string'], timeAdded: [4, 'time'] }]],
      podCIDRs: [7, 'strings'],
    },
  ],
  status: [
    3,
    {
      capacity: [1, 'quantityMap'],
      allocatable: [2, 'quantityMap'],
      phase: [3, 'string'],
      conditions: [4, [nodeCondition]],
      addresses: [5, [{ type: [1, 'string'], address: [2, 'string'] }]],
      daemonEndpoints: [6, daemonEndpoints],
      nodeInfo: [7, nodeInfo],
    },
  ],
};

export const lease: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [
    2,
    {
      holderIdentity: [1, 'string', 'kept'],
      leaseDurationSeconds: [2, 'integer', 'kept'],
      acquireTime: [3, 'microTime'],
      renewTime: [4, 'microTime'],
      leaseTransitions: [5, 'integer', 'kept'],
      strategy: [6, 'string'],
      preferredHolder: [7, 'string'],
    },
  ],
};

export const namespace: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [2, { finalizers: [1, 'strings'] }],
  status: [3, { phase: [1, 'string'] }],
};

export const secret: BodyMessage = {
  metadata: [1, objectMeta],
  data: [2, 'bytesMap'],
  type: [3, 'string'],
  stringData: [4, 'stringMap'],
  immutable: [5, 'bool', 'kept'],
};

export const configMap: BodyMessage = {
  metadata: [1, objectMeta],
  data: [2, 'stringMap'],
  binaryData: [3, 'bytesMap'],
  immutable: [4, 'bool', 'kept'],
};
