import type { JsonObject } from '../kubernetes/api/decode.ts';
import { formatMicroTime } from '../kubernetes/api/micro-time.ts';
import {
  type ProtobufCursor,
  ProtobufError,
  type ProtobufListType,
  fieldOf,
  readInteger,
  readLength,
  readMessage,
  readString,
  skipField,
} from '../kubernetes/protobuf/index.ts';
import { type NodeLease, decodeNodeLease } from './care-reads.ts';
import { type NodeHealth, type WorkerNode, decodeNodeHealth, decodeWorkerNode } from './health-nodes.ts';

// Field numbers: generated.proto of k8s.io/api `core/v1` and `coordination/v1`, and of k8s.io/apimachinery `pkg/apis/meta/v1`.

/** Reads one field as JSON has it; `before` is what the message has had of it. */
type Read = (cursor: ProtobufCursor, tag: number, before: unknown) => unknown;

/** The fields of a message that are read, by their numbers. Most of a node, such as the list of its images, is skipped. */
type Shape = Readonly<Record<number, readonly [name: string, read: Read]>>;

const readShape = (cursor: ProtobufCursor, end: number, shape: Shape): JsonObject => {
  const object: Record<string, unknown> = {};
  readMessage(cursor, end, (tag) => {
    const field = shape[fieldOf(tag)];
    if (field === undefined) {
      skipField(cursor, tag);
      return;
    }
    const [name, read] = field;
    object[name] = read(cursor, tag, object[name]);
  });
  return object;
};

const message =
  (shape: Shape): Read =>
  (cursor, tag) =>
    readShape(cursor, readLength(cursor, tag), shape);

const list =
  (shape: Shape): Read =>
  (cursor, tag, before = []) => {
    const items = before as JsonObject[];
    items.push(readShape(cursor, readLength(cursor, tag), shape));
    return items;
  };

const text: Read = (cursor, tag) => readString(cursor, tag);
const integer: Read = (cursor, tag) => readInteger(cursor, tag);
/** JSON leaves it out where it is 0 (Go's omitempty). */
const count: Read = (cursor, tag) => readInteger(cursor, tag) || undefined;
const bool: Read = (cursor, tag) => readInteger(cursor, tag) !== 0;

const entry: Shape = { 1: ['key', text], 2: ['value', text] };

/** Without a prototype: keys come from outside. */
const stringMap: Read = (cursor, tag, before = Object.create(null) as object) => {
  const { key = '', value = '' } = readShape(cursor, readLength(cursor, tag), entry) as Readonly<
    Record<string, string>
  >;
  return Object.assign(before as Record<string, string>, { [key]: value });
};

const instant: Shape = { 1: ['seconds', integer], 2: ['nanos', integer] };

/** A Time or MicroTime; Go writes its zero time as an empty message, and as null in JSON. */
const time: Read = (cursor, tag) => {
  const end = readLength(cursor, tag);
  const start = cursor.at;
  const { seconds = 0, nanos = 0 } = readShape(cursor, end, instant) as Readonly<Record<string, number>>;
  if (start === end) return undefined;
  const formatted = formatMicroTime(seconds, nanos);
  if (formatted === undefined) throw new ProtobufError(start, 'not a time');
  // Whole seconds, as those of a Time are, come without a fraction.
  return formatted.replace('.000000Z', 'Z');
};

const meta = message({
  1: ['name', text],
  3: ['namespace', text],
  5: ['uid', text],
  6: ['resourceVersion', text],
  7: ['generation', count],
  9: ['deletionTimestamp', time],
  11: ['labels', stringMap],
  12: ['annotations', stringMap],
});

const condition: Shape = {
  1: ['type', text],
  2: ['status', text],
  4: ['lastTransitionTime', time],
  5: ['reason', text],
  6: ['message', text],
};

const node: Shape = {
  1: ['metadata', meta],
  2: ['spec', message({ 4: ['unschedulable', bool] })],
  3: [
    'status',
    message({ 4: ['conditions', list(condition)], 7: ['nodeInfo', message({ 7: ['kubeletVersion', text] })] }),
  ],
};

const lease: Shape = {
  1: ['metadata', message({ 1: ['name', text] })],
  2: ['spec', message({ 2: ['leaseDurationSeconds', integer], 4: ['renewTime', time] })],
};

/** The same as `decodeNodeHealth` makes of the JSON of a list. Its `readItem` throws a ProtobufError or a DecodeError. */
export const nodeHealthListType: ProtobufListType<NodeHealth> = {
  apiVersion: 'v1',
  kind: 'NodeList',
  readItem: (cursor, end, index) => decodeNodeHealth(readShape(cursor, end, node), `items[${String(index)}]`),
};

/** The same as `decodeWorkerNode` makes of the JSON of a list, likewise. */
export const workerNodeListType: ProtobufListType<WorkerNode> = {
  apiVersion: 'v1',
  kind: 'NodeList',
  readItem: (cursor, end, index) => decodeWorkerNode(readShape(cursor, end, node), `items[${String(index)}]`),
};

/** The same as `decodeNodeLease` makes of the JSON of a list. Its `readItem` throws a ProtobufError or a DecodeError. */
export const nodeLeaseListType: ProtobufListType<NodeLease> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'LeaseList',
  readItem: (cursor, end, index) => decodeNodeLease(readShape(cursor, end, lease), `items[${String(index)}]`),
};
