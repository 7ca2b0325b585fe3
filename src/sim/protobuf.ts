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

const [wireVarint, wireBytes] = [0, 2];

/** A negative number takes all of the ten bytes that 64 bits do. */
const varint = (value: number): Uint8Array => {
  const bytes: number[] = [];
  let rest = value >= 0 ? value : BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7f; rest = typeof rest === 'bigint' ? rest >> 7n : Math.floor(rest / 128)) {
    bytes.push(Number(typeof rest === 'bigint' ? rest & 0x7fn : rest % 128) | 0x80);
  }
  return Uint8Array.from([...bytes, Number(rest)]);
};

const tag = (field: number, wireType: number): Uint8Array => varint((field << 3) | wireType);

const integer = (field: number, value: number): readonly Uint8Array[] => [
  tag(field, wireVarint),
  varint(Math.trunc(value)),
];

/** A field of a string, bytes or a message. */
export const lengthDelimited = (field: number, content: Uint8Array): Uint8Array =>
  Buffer.concat([tag(field, wireBytes), varint(content.length), content]);

const text = (field: number, value: unknown): Uint8Array => lengthDelimited(field, Buffer.from(String(value)));

/** A Time or MicroTime, whose messages are alike. */
const time = (field: number, value: unknown): Uint8Array => {
  const written = String(value);
  const seconds = Math.floor(Date.parse(written) / 1_000);
  const [, fraction = ''] = /\.(\d{1,9})/.exec(written) ?? [];
  return lengthDelimited(
    field,
    Buffer.concat([...integer(1, seconds), ...integer(2, Number(fraction.padEnd(9, '0')))]),
  );
};

const entries = (field: number, value: object): readonly Uint8Array[] =>
  Object.entries(value).map(([key, content]) =>
    lengthDelimited(field, Buffer.concat([text(1, key), text(2, content)])),
  );

const unknownField = Symbol('a field that the message does not have');
type Parts = readonly Uint8Array[] | typeof unknownField;

const fieldParts = (field: number, type: FieldType, value: unknown): Parts => {
  switch (type) {
    case 'string':
      return [text(field, value)];
    case 'strings':
      return (value as readonly unknown[]).map((item) => text(field, item));
    case 'stringMap':
      return entries(field, value as object);
    case 'bool':
      return integer(field, value === true ? 1 : 0);
    case 'integer':
      return integer(field, Number(value));
    case 'time':
      return [time(field, value)];
    default:
      return messageParts(field, type, value);
  }
};

const messageParts = (field: number, type: ProtobufMessage | readonly [ProtobufMessage], value: unknown): Parts => {
  const isRepeated = Array.isArray(type);
  const message = (isRepeated ? type[0] : type) as ProtobufMessage;
  const parts: Uint8Array[] = [];
  for (const item of isRepeated ? (value as readonly object[]) : [value as object]) {
    const encoded = encodeProtobuf(message, item);
    if (encoded === undefined) return unknownField;
    parts.push(lengthDelimited(field, encoded));
  }
  return parts;
};

/**
 * The message of an object as its JSON has it (https://protobuf.dev/programming-guides/encoding); undefined when the object has a field that
 * the message type does not name. What is null or not there is left out, where Go also writes empty strings and zeros.
 */
export const encodeProtobuf = (message: ProtobufMessage, object: object): Uint8Array | undefined => {
  const parts: Uint8Array[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined || value === null) continue;
    const known = message[name];
    const encoded = known === undefined ? unknownField : fieldParts(known[0], known[1], value);
    if (encoded === unknownField) return undefined;
    parts.push(...encoded);
  }
  return Buffer.concat(parts);
};
