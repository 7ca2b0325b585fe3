import { type JsonMap, asList, asMap } from './object.ts';
import {
  type ProtobufWriter,
  createProtobufWriter,
  endField,
  writeInteger,
  writeString,
  writtenBytes,
  writtenSize,
} from './protobuf-writer.ts';

/** What a field holds: JSON's form of it is known from the Kubernetes API. */
type FieldType =
  | 'string'
  | 'strings'
  | 'stringMap'
  | 'bool'
  | 'integer'
  | 'time'
  | ProtobufMessage
  | readonly [ProtobufMessage];

interface ProtobufField {
  readonly 0: number;
  readonly 1: FieldType;
}

/** A message type: the number and type of each field, by its name in JSON; of a message in brackets there can be many. */
export type ProtobufMessage = Readonly<Record<string, ProtobufField>>;

/** Of most leases. */
const usualSize = 256;

/** A Time or MicroTime, whose messages are alike. */
const writeTime = (writer: ProtobufWriter, field: number, value: unknown): void => {
  const written = String(value);
  const [, fraction = ''] = /\.(\d{1,9})/.exec(written) ?? [];
  const size = writtenSize(writer);
  writeInteger(writer, 2, Number(fraction.padEnd(9, '0')));
  writeInteger(writer, 1, Math.floor(Date.parse(written) / 1_000));
  endField(writer, field, size);
};

const writeStringMap = (writer: ProtobufWriter, field: number, value: Readonly<JsonMap>): void => {
  for (const key of Object.keys(value).toReversed()) {
    const size = writtenSize(writer);
    writeString(writer, 2, String(value[key]));
    writeString(writer, 1, key);
    endField(writer, field, size);
  }
};

/** Of all items, or false when one has a field that the message type does not name. */
const writeMessages = (
  writer: ProtobufWriter,
  { 0: field, 1: type }: ProtobufField,
  items: readonly Readonly<JsonMap>[],
): boolean => {
  const message = (Array.isArray(type) ? type[0] : type) as ProtobufMessage;
  for (const item of items.toReversed()) {
    const size = writtenSize(writer);
    if (!writeFields(writer, message, item)) return false;
    endField(writer, field, size);
  }
  return true;
};

const writeField = (writer: ProtobufWriter, known: ProtobufField, value: unknown): boolean => {
  const { 0: field, 1: type } = known;
  switch (type) {
    case 'string':
      writeString(writer, field, String(value));
      return true;
    case 'strings':
      for (const item of asList(value).toReversed()) writeString(writer, field, String(item));
      return true;
    case 'stringMap':
      writeStringMap(writer, field, asMap(value));
      return true;
    case 'bool':
      writeInteger(writer, field, value === true ? 1 : 0);
      return true;
    case 'integer':
      writeInteger(writer, field, Number(value));
      return true;
    case 'time':
      writeTime(writer, field, value);
      return true;
    default:
      return writeMessages(writer, known, (Array.isArray(type) ? asList(value) : [value]).map(asMap));
  }
};

const writeFields = (writer: ProtobufWriter, message: ProtobufMessage, object: Readonly<JsonMap>): boolean => {
  const names = Object.keys(object);
  for (let index = names.length - 1; index >= 0; index -= 1) {
    const name = names[index] ?? '';
    const value = object[name];
    if (value === undefined || value === null) continue;
    const known = message[name];
    if (known === undefined || !writeField(writer, known, value)) return false;
  }
  return true;
};

/**
 * The message of an object as its JSON has it (https://protobuf.dev/programming-guides/encoding); undefined when the object has a field that
 * the message type does not name. What is null or not there is left out, where Go also writes empty strings and zeros.
 */
export const encodeProtobuf = (message: ProtobufMessage, object: Readonly<JsonMap>): Uint8Array | undefined => {
  const writer = createProtobufWriter(usualSize);
  return writeFields(writer, message, object) ? writtenBytes(writer) : undefined;
};
