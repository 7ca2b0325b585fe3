import type { JsonObject } from '../api/decode.ts';
import { protobufMagic } from './protobuf-list.ts';
import {
  type ProtobufCursor,
  ProtobufError,
  fieldOf,
  readInteger,
  readLength,
  readMessage,
  readString,
  skipField,
} from './protobuf.ts';

/** First in `Accept` for what can be read from protobuf; servers that do not have it, as for custom resources, send JSON. */
export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** Stands at the object's message, which ends at `end`. */
  readonly cursor: ProtobufCursor;
  readonly end: number;
}

/** `runtime.Unknown` (k8s.io/apimachinery `pkg/runtime/generated.proto`). */
const readEnvelope = (bytes: Uint8Array): Envelope => {
  if (protobufMagic.some((byte, index) => bytes[index] !== byte)) {
    throw new ProtobufError(0, 'not a Kubernetes message');
  }
  const cursor = { bytes, at: protobufMagic.length };
  let apiVersion = '';
  let kind = '';
  let encoding = '';
  let raw: { readonly at: number; readonly end: number } | undefined;
  const readTypeMeta = (tag: number): void => {
    if (fieldOf(tag) === 1) apiVersion = readString(cursor, tag);
    else if (fieldOf(tag) === 2) kind = readString(cursor, tag);
    else skipField(cursor, tag);
  };
  readMessage(cursor, bytes.length, (tag) => {
    switch (fieldOf(tag)) {
      case 1:
        readMessage(cursor, readLength(cursor, tag), readTypeMeta);
        break;
      case 2: {
        const end = readLength(cursor, tag);
        raw = { at: cursor.at, end };
        cursor.at = end;
        break;
      }
      case 3:
        encoding = readString(cursor, tag);
        break;
      default:
        skipField(cursor, tag);
    }
  });
  if (encoding !== '') throw new ProtobufError(0, 'the object is encoded once more');
  if (raw === undefined) throw new ProtobufError(0, 'an envelope without an object');
  return { apiVersion, kind, cursor: { bytes, at: raw.at }, end: raw.end };
};

/** Collects the string fields of a message under their names. */
const readStrings = (cursor: ProtobufCursor, end: number, names: Readonly<Record<number, string>>): JsonObject => {
  const strings: Record<string, string> = {};
  readMessage(cursor, end, (tag) => {
    const name = names[fieldOf(tag)];
    if (name === undefined) skipField(cursor, tag);
    else strings[name] = readString(cursor, tag);
  });
  return strings;
};

const readDetails = (cursor: ProtobufCursor, end: number): JsonObject => {
  const causes: JsonObject[] = [];
  let retryAfterSeconds = 0;
  readMessage(cursor, end, (tag) => {
    if (fieldOf(tag) === 4) {
      causes.push(readStrings(cursor, readLength(cursor, tag), { 1: 'reason', 2: 'message', 3: 'field' }));
    } else if (fieldOf(tag) === 5) retryAfterSeconds = readInteger(cursor, tag);
    else skipField(cursor, tag);
  });
  return { causes, retryAfterSeconds };
};

/**
 * A `metav1.Status` (k8s.io/apimachinery `pkg/apis/meta/v1/generated.proto`) with those of its fields that tell why a request failed, named as in
 * JSON; undefined for another kind. Throws nothing but ProtobufError.
 */
export const readProtobufStatus = (bytes: Uint8Array): JsonObject | undefined => {
  const { apiVersion, kind, cursor, end } = readEnvelope(bytes);
  if (kind !== 'Status') return undefined;
  let message = '';
  let reason = '';
  let code = 0;
  let details: JsonObject = {};
  readMessage(cursor, end, (tag) => {
    switch (fieldOf(tag)) {
      case 3:
        message = readString(cursor, tag);
        break;
      case 4:
        reason = readString(cursor, tag);
        break;
      case 5:
        details = readDetails(cursor, readLength(cursor, tag));
        break;
      case 6:
        code = readInteger(cursor, tag);
        break;
      default:
        skipField(cursor, tag);
    }
  });
  return { apiVersion, kind, message, reason, code, details };
};
