import { bytesField } from '../../simulator/apiserver/protobuf.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import { ProtobufListReader } from '../../src/kubernetes/protobuf/index.ts';

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
  ...(list && { list: { ...list, protobufItem: undefined } }),
});

/** Reads a list from protobuf as the client does, in one chunk. */
export const readList = <T>({ list }: Call<T>, body: Uint8Array): T => {
  if (list?.protobufItem === undefined) throw new Error('the list is not read from protobuf');
  const { kind, apiVersion, protobufItem, all } = list;
  const kept: unknown[] = [];
  const reader = new ProtobufListReader({
    ...{ kind, apiVersion, limitBytes: Infinity, fieldBytes: Infinity },
    item: (cursor, end) => kept.push(protobufItem(cursor, end, () => `items[${String(kept.length)}]`)),
  });
  reader.feed(body);
  reader.finish();
  return all(kept);
};
