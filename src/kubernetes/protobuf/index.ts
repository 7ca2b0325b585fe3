export { createByteSink } from './byte-sink.ts';
export { protobufMediaType, readProtobufStatus } from './kube-protobuf.ts';
export { ProtobufListReader } from './protobuf-list.ts';
export {
  type MessageFields,
  entries,
  fieldStamp,
  flag,
  flat,
  integer,
  list,
  microseconds,
  readFields,
  stringMap,
  text,
  time,
  word,
} from './protobuf-reader.ts';
export type { ProtobufCursor } from './protobuf.ts';
