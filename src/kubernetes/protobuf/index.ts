export { createByteSink } from './byte-sink.ts';
export { protobufMediaType, readProtobufStatus } from './kube-protobuf.ts';
export { type ProtobufListType, createProtobufListReader, readProtobufList } from './protobuf-list.ts';
export {
  type ProtobufCursor,
  ProtobufError,
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
} from './protobuf.ts';
