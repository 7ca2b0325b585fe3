import { type SimKind, apiVersionOf } from './kind.ts';
import type { JsonMap, SimObject } from './object.ts';
import { type ProtobufMessage, bytesField, encodeProtobuf, stringField } from './protobuf.ts';

export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

/** Field numbers of this and the next two messages are those of `generated.proto` in k8s.io/apimachinery `pkg/apis/meta/v1`. */
const managedFieldsEntry: ProtobufMessage = {
  manager: [1, 'string'],
  operation: [2, 'string'],
  apiVersion: [3, 'string'],
  time: [4, 'time'],
  fieldsType: [6, 'string'],
  fieldsV1: [7, 'fieldsV1'],
};

const objectMeta: ProtobufMessage = {
  name: [1, 'string'],
  namespace: [3, 'string'],
  uid: [5, 'string'],
  resourceVersion: [6, 'string'],
  generation: [7, 'integer'],
  creationTimestamp: [8, 'time'],
  deletionTimestamp: [9, 'time'],
  labels: [11, 'stringMap'],
  annotations: [12, 'stringMap'],
  managedFields: [17, [managedFieldsEntry]],
};

const listMeta: ProtobufMessage = {
  resourceVersion: [2, 'string'],
  continue: [3, 'string'],
  remainingItemCount: [4, 'integer'],
};

/** Message of k8s.io/api `coordination/v1`. */
const lease: ProtobufMessage = {
  metadata: [1, objectMeta],
  spec: [
    2,
    {
      holderIdentity: [1, 'string'],
      leaseDurationSeconds: [2, 'integer'],
      acquireTime: [3, 'time'],
      renewTime: [4, 'time'],
      leaseTransitions: [5, 'integer'],
    },
  ],
};

const nodeCondition: ProtobufMessage = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastHeartbeatTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const taint: ProtobufMessage = { key: [1, 'string'], value: [2, 'string'], effect: [3, 'string'] };

/** Message of k8s.io/api `core/v1`, with the fields that the actors and faults of a simulation write. */
const node: ProtobufMessage = {
  metadata: [1, objectMeta],
  spec: [2, { providerID: [3, 'string'], unschedulable: [4, 'integer'], taints: [5, [taint]] }],
  status: [3, { conditions: [4, [nodeCondition]], nodeInfo: [7, { kubeletVersion: [7, 'string'] }] }],
};

const messages: Readonly<Record<string, ProtobufMessage>> = { 'coordination.k8s.io/v1 Lease': lease, 'v1 Node': node };

const messageOf = (kind: SimKind): ProtobufMessage | undefined => messages[`${apiVersionOf(kind)} ${kind.kind}`];

/** True if a client can get objects of the kind in protobuf; all other kinds are only served in JSON. */
export const hasProtobuf = (kind: SimKind): boolean => messageOf(kind) !== undefined;

/** Encodes the object as a message; undefined if its kind is only served in JSON. */
export const objectProtobuf = (kind: SimKind, object: SimObject): Uint8Array | undefined => {
  const message = messageOf(kind);
  return message && encodeProtobuf(message, object);
};

const magic = Buffer.from('k8s\0');

export interface ProtobufList {
  readonly kind: SimKind;
  /** ListMeta of the list. */
  readonly metadata: Readonly<JsonMap>;
  readonly items: readonly Uint8Array[];
}

/**
 * Encodes a list for sending: `k8s` and a zero byte, then a `runtime.Unknown` (k8s.io/apimachinery `pkg/runtime/generated.proto`) that
 * holds it. In all lists `metadata` is field 1 and `items` field 2.
 */
export const listProtobuf = ({ kind, metadata, items }: ProtobufList): Uint8Array => {
  const head = bytesField(1, encodeProtobuf(listMeta, metadata));
  const list = Buffer.concat([...head, ...items.flatMap((item) => bytesField(2, item))]);
  const type = Buffer.concat([...stringField(1, apiVersionOf(kind)), ...stringField(2, `${kind.kind}List`)]);
  return Buffer.concat([magic, ...bytesField(1, type), ...bytesField(2, list)]);
};
