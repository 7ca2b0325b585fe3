import type { JsonObject } from '../api/decode.ts';
import { protobufMagic } from './protobuf-list.ts';
import { type MessageFields, bytes, flat, integer, list, message, readFields, text } from './protobuf-reader.ts';
import { ProtobufError, cursorOf } from './protobuf.ts';

/** First media type in `Accept` if we can read protobuf; a server without it, as for custom resources, sends JSON. */
export const protobufMediaType = 'application/vnd.kubernetes.protobuf';

/** `runtime.Unknown` (k8s.io/apimachinery `pkg/runtime/generated.proto`). */
const envelope: MessageFields = {
  1: flat({ 1: text('apiVersion'), 2: text('kind') }),
  2: bytes('raw'),
  3: text('encoding'),
};

/** `metav1.Status` (k8s.io/apimachinery `pkg/apis/meta/v1/generated.proto`). */
const status: MessageFields = {
  3: text('message'),
  4: text('reason'),
  5: message('details', {
    4: list('causes', { 1: text('reason'), 2: text('message'), 3: text('field') }),
    5: integer('retryAfterSeconds'),
  }),
  6: integer('code'),
};

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Buffer | undefined;
  readonly encoding: string;
}

/**
 * Reads the fields of a `metav1.Status` that explain why a request failed, named as in JSON; undefined for another kind. Throws only ProtobufError.
 */
export const readProtobufStatus = (body: Uint8Array): JsonObject | undefined => {
  const cursor = cursorOf(body);
  if (protobufMagic.some((byte, index) => body[index] !== byte)) {
    throw new ProtobufError(0, 'not a Kubernetes message');
  }
  cursor.at = protobufMagic.length;
  const draft: Envelope = { apiVersion: '', kind: '', raw: undefined, encoding: '' };
  const { apiVersion, kind, raw, encoding } = readFields(cursor, body.length, { fields: envelope, draft });
  if (encoding !== '') throw new ProtobufError(0, 'the object is encoded once more');
  if (raw === undefined) throw new ProtobufError(0, 'an envelope without an object');
  if (kind !== 'Status') return undefined;
  const empty = { apiVersion, kind, message: '', reason: '', code: 0, details: {} };
  return readFields(cursorOf(raw), raw.length, { fields: status, draft: empty });
};
