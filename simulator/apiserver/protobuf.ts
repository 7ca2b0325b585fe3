import { type JsonMap, asList, asMap } from './object.ts';

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

/** Parts of a message, which stand one after the other. */
type Chunks = readonly Uint8Array[];

/** A negative number takes all of the ten bytes that 64 bits do. Throws a RangeError for what is no number. */
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

const integerField = (field: number, value: number): Uint8Array =>
  Buffer.from([...varint(field << 3), ...varint(Math.trunc(value))]);

/** A field of bytes or a message. */
export const bytesField = (field: number, content: Uint8Array): Chunks => [
  Buffer.from([...varint((field << 3) | 2), ...varint(content.length)]),
  content,
];

export const stringField = (field: number, text: string): Chunks => bytesField(field, Buffer.from(text));

/** A Time or MicroTime, whose messages are alike. */
const timeField = (field: number, value: unknown): Chunks => {
  const written = String(value);
  const [, fraction = ''] = /\.(\d{1,9})/.exec(written) ?? [];
  const seconds = integerField(1, Math.floor(Date.parse(written) / 1_000));
  return bytesField(field, Buffer.concat([seconds, integerField(2, Number(fraction.padEnd(9, '0')))]));
};

const entryField = (field: number, key: string, value: unknown): Chunks =>
  bytesField(field, Buffer.concat([...stringField(1, key), ...stringField(2, String(value))]));

/** Of all items, or undefined when one has a field that the message type does not name. */
const messageFields = (field: number, message: ProtobufMessage, items: readonly unknown[]): Chunks | undefined => {
  const encoded = items.map((item) => encodeProtobuf(message, asMap(item)));
  return encoded.includes(undefined)
    ? undefined
    : encoded.flatMap((bytes = Buffer.alloc(0)) => bytesField(field, bytes));
};

const encodeField = ({ 0: field, 1: type }: ProtobufField, value: unknown): Chunks | undefined => {
  switch (type) {
    case 'string':
      return stringField(field, String(value));
    case 'strings':
      return asList(value).flatMap((item) => stringField(field, String(item)));
    case 'stringMap':
      return Object.entries(asMap(value)).flatMap(([key, text]) => entryField(field, key, text));
    case 'bool':
      return [integerField(field, value === true ? 1 : 0)];
    case 'integer':
      return [integerField(field, Number(value))];
    case 'time':
      return timeField(field, value);
    default:
      return Array.isArray(type)
        ? messageFields(field, type[0] as ProtobufMessage, asList(value))
        : messageFields(field, type as ProtobufMessage, [value]);
  }
};

/**
 * The message of an object as its JSON has it (https://protobuf.dev/programming-guides/encoding); undefined when the object has a field that
 * the message type does not name. What is null or not there is left out, where Go also writes empty strings and zeros.
 */
export const encodeProtobuf = (message: ProtobufMessage, object: Readonly<JsonMap>): Uint8Array | undefined => {
  const chunks: Uint8Array[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined || value === null) continue;
    const field = message[name];
    const encoded = field && encodeField(field, value);
    if (encoded === undefined) return undefined;
    chunks.push(...encoded);
  }
  return Buffer.concat(chunks);
};
