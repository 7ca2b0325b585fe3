import { microsecondsOf } from '../kubernetes/api/micro-time.ts';
import {
  type ProtobufCursor,
  ProtobufError,
  type ProtobufListType,
  type ProtobufRange,
  fieldOf,
  nextTag,
  readInteger,
  readLength,
  readMessage,
  readRange,
  readString,
  readText,
  skipField,
  spells,
} from '../kubernetes/protobuf/index.ts';
import type { Lease } from './leases.ts';
import { type NodeView, isInPlaceUpdate, notManagedByMcm, poolLabel } from './nodes.ts';

// Field numbers: generated.proto of k8s.io/api `core/v1` and `coordination/v1`, and of k8s.io/apimachinery `pkg/apis/meta/v1`.

const nowhere: ProtobufRange = { start: 0, end: 0 };

const textAt = (cursor: ProtobufCursor, { start, end }: ProtobufRange): string =>
  readText({ bytes: cursor.bytes, at: start }, end);

interface Meta {
  name: string;
  pool: string | undefined;
  isUnmanaged: boolean;
}

/** An entry of a `map<string, string>`. */
const readEntry = (
  cursor: ProtobufCursor,
  end: number,
): { readonly key: ProtobufRange; readonly value: ProtobufRange } => {
  let key = nowhere;
  let value = nowhere;
  readMessage(cursor, end, (tag) => {
    if (fieldOf(tag) === 1) key = readRange(cursor, tag);
    else if (fieldOf(tag) === 2) value = readRange(cursor, tag);
    else skipField(cursor, tag);
  });
  return { key, value };
};

const readMeta = (cursor: ProtobufCursor, end: number, meta: Meta): void =>
  readMessage(cursor, end, (tag) => {
    switch (fieldOf(tag)) {
      case 1:
        meta.name = readString(cursor, tag);
        break;
      case 11: {
        const { key, value } = readEntry(cursor, readLength(cursor, tag));
        if (spells(cursor, key, poolLabel)) meta.pool = textAt(cursor, value);
        break;
      }
      case 12: {
        const { key } = readEntry(cursor, readLength(cursor, tag));
        meta.isUnmanaged ||= spells(cursor, key, notManagedByMcm);
        break;
      }
      default:
        skipField(cursor, tag);
    }
  });

const checkName = (cursor: ProtobufCursor, name: string): void => {
  if (name === '') throw new ProtobufError(cursor.at, 'an item without a name');
};

interface Conditions {
  readonly trueTypes: Set<string>;
  inPlaceUpdate: boolean;
}

const readCondition = (cursor: ProtobufCursor, end: number, conditions: Conditions): void => {
  let type = nowhere;
  let state = nowhere;
  let reason = nowhere;
  readMessage(cursor, end, (tag) => {
    if (fieldOf(tag) === 1) type = readRange(cursor, tag);
    else if (fieldOf(tag) === 2) state = readRange(cursor, tag);
    else if (fieldOf(tag) === 5) reason = readRange(cursor, tag);
    else skipField(cursor, tag);
  });
  if (spells(cursor, state, 'True')) conditions.trueTypes.add(textAt(cursor, type));
  if (spells(cursor, type, 'InPlaceUpdate')) {
    conditions.inPlaceUpdate ||= isInPlaceUpdate(textAt(cursor, type), textAt(cursor, reason));
  }
};

const readNode = (cursor: ProtobufCursor, end: number): NodeView => {
  const meta: Meta = { name: '', pool: undefined, isUnmanaged: false };
  const conditions: Conditions = { trueTypes: new Set(), inPlaceUpdate: false };
  readMessage(cursor, end, (tag) => {
    if (fieldOf(tag) === 1) readMeta(cursor, readLength(cursor, tag), meta);
    else if (fieldOf(tag) === 3) {
      readMessage(cursor, readLength(cursor, tag), (statusTag) => {
        if (fieldOf(statusTag) === 4) readCondition(cursor, readLength(cursor, statusTag), conditions);
        else skipField(cursor, statusTag);
      });
    } else skipField(cursor, tag);
  });
  checkName(cursor, meta.name);
  return {
    name: meta.name,
    managedByMcm: !meta.isUnmanaged,
    ...(meta.pool === undefined ? {} : { pool: meta.pool }),
    trueConditions: conditions.trueTypes,
    inPlaceUpdate: conditions.inPlaceUpdate,
  };
};

/** A MicroTime; Go writes its zero time as an empty message, and as null in JSON. */
const readMicroTime = (cursor: ProtobufCursor, end: number): number | undefined => {
  const start = cursor.at;
  let seconds = 0;
  let nanos = 0;
  for (let tag = nextTag(cursor, end); tag !== 0; tag = nextTag(cursor, end)) {
    if (fieldOf(tag) === 1) seconds = readInteger(cursor, tag);
    else if (fieldOf(tag) === 2) nanos = readInteger(cursor, tag);
    else skipField(cursor, tag);
  }
  if (start === end) return undefined;
  const time = microsecondsOf(seconds, nanos);
  if (time === undefined) throw new ProtobufError(start, 'not a time');
  return time;
};

/** The last name in an ObjectMeta, `before` where it has none; the very string `expected` where it is that. */
const readName = (
  cursor: ProtobufCursor,
  end: number,
  { before, expected }: { readonly before: string; readonly expected: string },
): string => {
  let name = before;
  for (let tag = nextTag(cursor, end); tag !== 0; tag = nextTag(cursor, end)) {
    if (fieldOf(tag) === 1) {
      const range = readRange(cursor, tag);
      name = spells(cursor, range, expected) ? expected : textAt(cursor, range);
    } else skipField(cursor, tag);
  }
  return name;
};

/** The last renewTime in a LeaseSpec, `before` where it has none. */
const readRenewTime = (cursor: ProtobufCursor, end: number, before: number | undefined): number | undefined => {
  let renewTime = before;
  for (let tag = nextTag(cursor, end); tag !== 0; tag = nextTag(cursor, end)) {
    if (fieldOf(tag) === 4) renewTime = readMicroTime(cursor, readLength(cursor, tag));
    else skipField(cursor, tag);
  }
  return renewTime;
};

const readLease = (cursor: ProtobufCursor, end: number, expected: string): Lease => {
  let name = '';
  let renewTime: number | undefined;
  for (let tag = nextTag(cursor, end); tag !== 0; tag = nextTag(cursor, end)) {
    if (fieldOf(tag) === 1) name = readName(cursor, readLength(cursor, tag), { before: name, expected });
    else if (fieldOf(tag) === 2) renewTime = readRenewTime(cursor, readLength(cursor, tag), renewTime);
    else skipField(cursor, tag);
  }
  checkName(cursor, name);
  return renewTime === undefined ? { name } : { name, renewTime };
};

/** The same views as `decodeNode` and `decodeLease` make of the JSON of a list. */
export const nodeListType: ProtobufListType<NodeView> = { apiVersion: 'v1', kind: 'NodeList', readItem: readNode };

/** `names`: those that the leases are expected to have, in order; where one is right, no new string is made of its bytes. */
export const leaseListType = (names: readonly string[]): ProtobufListType<Lease> => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'LeaseList',
  readItem: (cursor, end, index) => readLease(cursor, end, names[index] ?? ''),
});
