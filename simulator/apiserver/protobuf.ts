import { type JsonMap, asList, asMap } from './object.ts';

/** Type of a field's value. Its JSON form is the one that the Kubernetes API documents. */
type FieldType =
  | 'string'
  | 'stringMap'
  | 'integer'
  | 'time'
  | 'fieldsV1'
  | ProtobufMessage
  | readonly [ProtobufMessage];

interface ProtobufField {
  readonly 0: number;
  readonly 1: FieldType;
}

/** A message type: number and type of each field by its JSON name. A message in brackets is a repeated field. */
export type ProtobufMessage = Readonly<Record<string, ProtobufField>>;

/** Consecutive parts of a message. */
type Chunks = readonly Uint8Array[];

/** Encodes a varint. A negative number takes the full ten bytes of a 64-bit value. Throws a RangeError for NaN. */
const varint = (value: number): readonly number[] => {
  const bytes: number[] = [];
  if (value >= 0 && value < 2 ** 31) {
    let rest = value;
    for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
    return [...bytes, rest];
  }
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
};

export const integerField = (field: number, value: number): Uint8Array =>
  Buffer.from([...varint(field << 3), ...varint(Math.trunc(value))]);

/** Encodes a field of bytes or of a message. */
export const bytesField = (field: number, content: Uint8Array): Chunks => [
  Buffer.from([...varint((field << 3) | 2), ...varint(content.length)]),
  content,
];

export const stringField = (field: number, text: string): Chunks => bytesField(field, Buffer.from(text));

/** Encodes a Time or MicroTime, which have the same message. */
const timeField = (field: number, value: unknown): Chunks => {
  const written = String(value);
  const [, fraction = ''] = /\.(\d{1,9})/.exec(written) ?? [];
  const seconds = integerField(1, Math.floor(Date.parse(written) / 1_000));
  return bytesField(field, Buffer.concat([seconds, integerField(2, Number(fraction.padEnd(9, '0')))]));
};

const entryField = (field: number, key: string, value: unknown): Chunks =>
  bytesField(field, Buffer.concat([...stringField(1, key), ...stringField(2, String(value))]));

const messageFields = (field: number, message: ProtobufMessage, items: readonly unknown[]): Chunks =>
  items.flatMap((item) => bytesField(field, encodeProtobuf(message, asMap(item))));

const encodeField = ({ 0: field, 1: type }: ProtobufField, value: unknown): Chunks => {
  switch (type) {
    case 'string':
      return stringField(field, String(value));
    case 'stringMap':
      return Object.entries(asMap(value)).flatMap(([key, text]) => entryField(field, key, text));
    case 'integer':
      return [integerField(field, Number(value))];
    case 'time':
      return timeField(field, value);
    case 'fieldsV1':
      // A message whose only field is the JSON text.
      return bytesField(field, Buffer.concat(stringField(1, JSON.stringify(value))));
    default:
      return Array.isArray(type)
        ? messageFields(field, type[0] as ProtobufMessage, asList(value))
        : messageFields(field, type as ProtobufMessage, [value]);
  }
};

/**
 * Encodes an object, given in its JSON form (https://protobuf.dev/programming-guides/encoding), with the fields that the message type names.
 * Null and absent fields are left out, although Go also writes empty strings and zeros.
 */
export const encodeProtobuf = (message: ProtobufMessage, object: Readonly<JsonMap>): Uint8Array =>
  Buffer.concat(
    Object.entries(message).flatMap(([name, field]) => {
      const value = object[name] ?? undefined;
      return value === undefined ? [] : encodeField(field, value);
    }),
  );
