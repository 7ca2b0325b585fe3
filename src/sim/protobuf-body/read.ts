import {
  fieldOf,
  type ProtobufCursor,
  ProtobufError,
  readInteger,
  readLength,
  readMessage,
  readString,
  skipField,
} from '../../domain/index.ts';
import type { JsonMap } from '../object.ts';
import { formatTime } from '../time.ts';

type BodyScalar = 'string' | 'strings' | 'bool' | 'integer' | 'time' | 'microTime' | 'intOrString' | 'ignored';
type BodyMap = 'stringMap' | 'bytesMap' | 'quantityMap';
type BodyType = BodyScalar | BodyMap | BodyMessage | readonly [BodyMessage];

interface BodyField {
  readonly 0: number;
  readonly 1: BodyType;
  readonly 2?: 'kept';
}

/**
 * A message type of what clients write: number and type of each field, by its name in JSON; of a message in brackets there can be many.
 * Go writes what is empty too: it counts for nothing but where it is `kept`, which are the fields that are pointers in Go.
 */
export type BodyMessage = Readonly<Record<string, BodyField>>;

/** The body has something in a field that the simulator has no name for. */
export class UnknownFieldError extends Error {
  override readonly name = 'UnknownFieldError';

  constructor(path: readonly string[], field: number) {
    super(`the simulator does not know field ${field} of ${path.join('.')} in protobuf: send it as JSON`);
  }
}

const isEmpty = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  value === undefined ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

const cursorOf = (bytes: Uint8Array): ProtobufCursor => ({ bytes, at: 0 });

const readBytes = (cursor: ProtobufCursor, tag: number): Uint8Array => {
  const end = readLength(cursor, tag);
  const bytes = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return bytes;
};

type Fields = ReadonlyMap<number, number | string | Uint8Array>;

/** The last value of each field of a small message: 1 to `texts.length` as `texts` says, numbers elsewhere. */
const readSmall = (bytes: Uint8Array, types: readonly ('integer' | 'string' | 'bytes')[]): Fields => {
  const fields = new Map<number, number | string | Uint8Array>();
  const cursor = cursorOf(bytes);
  readMessage(cursor, bytes.length, (tag) => {
    const type = types[fieldOf(tag) - 1];
    if (type === undefined) skipField(cursor, tag);
    else if (type === 'integer') fields.set(fieldOf(tag), readInteger(cursor, tag));
    else fields.set(fieldOf(tag), type === 'string' ? readString(cursor, tag) : readBytes(cursor, tag));
  });
  return fields;
};

const numberOf = (fields: Fields, field: number): number => {
  const value = fields.get(field);
  return typeof value === 'number' ? value : 0;
};

/** A Time or MicroTime: RFC 3339 with whole seconds, or with six digits behind them. The zero time of Go is an empty message. */
const timeText = (bytes: Uint8Array, digits: 0 | 6): string | undefined => {
  if (bytes.length === 0) return undefined;
  const fields = readSmall(bytes, ['integer', 'integer']);
  const second = formatTime(numberOf(fields, 1) * 1_000);
  const micros = Math.trunc(numberOf(fields, 2) / 1_000);
  return digits === 0 ? second : second.replace(/Z$/, `.${String(micros).padStart(6, '0')}Z`);
};

const intOrString = (bytes: Uint8Array): number | string => {
  const fields = readSmall(bytes, ['integer', 'integer', 'string']);
  return numberOf(fields, 1) === 0 ? numberOf(fields, 2) : String(fields.get(3) ?? '');
};

const mapEntry = (bytes: Uint8Array, type: BodyMap): readonly [key: string, value: string] => {
  const fields = readSmall(bytes, ['string', 'bytes']);
  const value = Buffer.from((fields.get(2) ?? '') as Uint8Array);
  const key = String(fields.get(1) ?? '');
  switch (type) {
    case 'stringMap':
      return [key, value.toString()];
    case 'bytesMap':
      return [key, value.toString('base64')];
    case 'quantityMap':
      return [key, String(readSmall(value, ['string']).get(1) ?? '')];
  }
};

interface Field {
  readonly cursor: ProtobufCursor;
  readonly tag: number;
  /** Of the field, for errors. */
  readonly path: readonly string[];
}

const list = (before: unknown): readonly unknown[] => (Array.isArray(before) ? (before as readonly unknown[]) : []);

/** The field's value, given what was read of it before: lists and maps come item by item. */
const fieldValue = ({ cursor, tag, path }: Field, type: BodyType, before: unknown): unknown => {
  switch (type) {
    case 'string':
      return readString(cursor, tag);
    case 'strings':
      return [...list(before), readString(cursor, tag)];
    case 'integer':
      return readInteger(cursor, tag);
    case 'bool':
      return readInteger(cursor, tag) !== 0;
    case 'time':
      return timeText(readBytes(cursor, tag), 0);
    case 'microTime':
      return timeText(readBytes(cursor, tag), 6);
    case 'intOrString':
      return intOrString(readBytes(cursor, tag));
    case 'stringMap':
    case 'bytesMap':
    case 'quantityMap':
      return { ...(before as JsonMap | undefined), ...Object.fromEntries([mapEntry(readBytes(cursor, tag), type)]) };
    case 'ignored':
      skipField(cursor, tag);
      return undefined;
    default:
      if (!isRepeated(type)) return readBody(readBytes(cursor, tag), type, path);
      return [...list(before), readBody(readBytes(cursor, tag), type[0], path)];
  }
};

const isRepeated = (type: BodyMessage | readonly [BodyMessage]): type is readonly [BodyMessage] => Array.isArray(type);

/** Reads on over a field without a name. Throws an UnknownFieldError where it says something. */
const checkEmpty = ({ cursor, tag, path }: Field): void => {
  const start = cursor.at;
  skipField(cursor, tag);
  const said = cursor.bytes.subarray(start, cursor.at);
  if (said.some((byte) => byte !== 0)) throw new UnknownFieldError(path, fieldOf(tag));
};

/**
 * The message as the JSON of the same object. Throws a ProtobufError for what is no message (https://protobuf.dev/programming-guides/encoding),
 * an UnknownFieldError for what `message` has no name for. `path` is the message's own, for errors.
 */
export const readBody = (bytes: Uint8Array, message: BodyMessage, path: readonly string[]): JsonMap => {
  const names = new Map(
    Object.entries(message).map(([name, field]) => [field[0], { name, type: field[1], kept: field[2] }]),
  );
  const object: JsonMap = {};
  const cursor = cursorOf(bytes);
  readMessage(cursor, bytes.length, (tag) => {
    const known = names.get(fieldOf(tag));
    if (known === undefined) {
      checkEmpty({ cursor, tag, path });
      return;
    }
    const { name, type, kept } = known;
    const value = fieldValue({ cursor, tag, path: [...path, name] }, type, object[name]);
    if (kept === undefined ? !isEmpty(value) : value !== undefined) object[name] = value;
  });
  return object;
};

const prefix = Buffer.from('k8s\0');

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/** `k8s` and a zero, and `runtime.Unknown` behind it. Throws a ProtobufError. */
export const openEnvelope = (body: Uint8Array): Envelope => {
  if (!prefix.equals(body.subarray(0, prefix.length))) {
    throw new ProtobufError(0, 'a body that does not begin with k8s and a zero');
  }
  if (body.length === prefix.length) throw new ProtobufError(prefix.length, 'an empty body');
  const unknown = readSmall(body.subarray(prefix.length), ['bytes', 'bytes']);
  const type = readSmall((unknown.get(1) ?? new Uint8Array()) as Uint8Array, ['string', 'string']);
  return {
    apiVersion: String(type.get(1) ?? ''),
    kind: String(type.get(2) ?? ''),
    raw: (unknown.get(2) ?? new Uint8Array()) as Uint8Array,
  };
};
