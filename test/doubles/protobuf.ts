import { bytesField } from '../../simulator/apiserver/protobuf.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import { createProtobufListReader } from '../../src/kubernetes/protobuf/index.ts';

/** Encodes a field that is a message of these parts. */
export const message = (field: number, ...parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat(bytesField(field, Buffer.concat(parts)));

export const text = (field: number, value: string): Buffer => message(field, Buffer.from(value));

/** Encodes an object as the API server sends it. */
export const envelope = (apiVersion: string, kind: string, ...object: readonly Uint8Array[]): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    message(1, text(1, apiVersion), text(2, kind)),
    message(2, ...object),
    ...[text(3, ''), text(4, '')],
  ]);

/** The same call, answered in JSON. */
export const withoutProtobuf = <T>({ list, ...call }: Call<T>): Call<T> => ({
  ...call,
  ...(list && { list: { ...list, readsProtobuf: false } }),
});

/** Reads a list from protobuf as the client does, in one chunk. */
export const readList = <T>({ list }: Call<T>, body: Uint8Array): T => {
  if (list?.readsProtobuf !== true) throw new Error('the list is not read from protobuf');
  const { kind, apiVersion, start } = list;
  const parts = start();
  const reader = createProtobufListReader({ kind, apiVersion, fieldBytes: Infinity, item: parts.addProtobuf });
  reader.feed(body);
  return parts.all({ next: reader.finish() });
};
