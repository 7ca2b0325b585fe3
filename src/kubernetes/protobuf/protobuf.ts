import { ResponseError } from '../api/errors.ts';

/** Bytes are not the expected protobuf message. */
export class ProtobufError extends ResponseError {
  override readonly name = 'ProtobufError';

  constructor(offset: number, problem: string) {
    super(`protobuf: byte ${String(offset)}: ${problem}`);
  }
}

/**
 * Position in a message. The functions below read from it (https://protobuf.dev/programming-guides/encoding) and throw only
 * ProtobufError. Each reads at least one byte, so a loop over them ends.
 */
export interface ProtobufCursor {
  readonly bytes: Buffer;
  at: number;
}

/** Returns a cursor at the first byte. */
export const cursorOf = ({ buffer, byteOffset, length }: Uint8Array): ProtobufCursor => ({
  bytes: Buffer.from(buffer, byteOffset, length),
  at: 0,
});

const wireVarint = 0;
const wireFixed64 = 1;
const wireBytes = 2;
const wireFixed32 = 5;
const longestVarint = 10;

/** Reads seven bits of each byte, the lowest first, into two halves of 32 bits. */
const readVarint = (cursor: ProtobufCursor): { readonly low: number; readonly high: number } => {
  let low = 0;
  let high = 0;
  for (let count = 0; count < longestVarint; count += 1) {
    const byte = cursor.bytes[cursor.at];
    if (byte === undefined) throw new ProtobufError(cursor.at, 'the message ends inside a number');
    cursor.at += 1;
    const bits = byte & 0x7f;
    const shift = count * 7;
    if (shift < 32) low |= bits << shift;
    if (shift === 28) high |= bits >>> 4;
    else if (shift > 31) high |= bits << (shift - 32);
    if (byte < 0x80) return { low: low >>> 0, high: high >>> 0 };
  }
  throw new ProtobufError(cursor.at, 'a number of more than ten bytes');
};

/** Reads a tag or a length: at most 32 bits, nearly always one or two bytes. */
const readUint32 = (cursor: ProtobufCursor): number => {
  const { bytes, at } = cursor;
  const first = bytes[at] ?? 0x80;
  if (first < 0x80) {
    cursor.at = at + 1;
    return first;
  }
  const second = bytes[at + 1] ?? 0x80;
  if (second < 0x80) {
    cursor.at = at + 2;
    return (first & 0x7f) | (second << 7);
  }
  const { low, high } = readVarint(cursor);
  if (high !== 0) throw new ProtobufError(cursor.at, 'a tag or length beyond 32 bits');
  return low;
};

/** Reads the next field's tag; its number is `fieldOf(tag)`. */
export const readTag = (cursor: ProtobufCursor): number => {
  const tag = readUint32(cursor);
  if (tag < 8) throw new ProtobufError(cursor.at, 'a field with the number 0');
  return tag;
};

export const fieldOf = (tag: number): number => tag >>> 3;

const checkType = (cursor: ProtobufCursor, tag: number, wireType: number): void => {
  if ((tag & 7) !== wireType) {
    throw new ProtobufError(cursor.at, `field ${String(fieldOf(tag))} has the wire type ${String(tag & 7)}`);
  }
};

const advance = (cursor: ProtobufCursor, length: number): number => {
  const end = cursor.at + length;
  if (end > cursor.bytes.length) throw new ProtobufError(cursor.at, 'a field that is longer than what is there');
  return end;
};

/** Reads the length of a string, bytes or message; returns the position of its end. It begins at the cursor's new position. */
export const readLength = (cursor: ProtobufCursor, tag: number): number => {
  return advance(cursor, readDeclaredLength(cursor, tag));
};

/** Reads the declared length of a field, which may be more than the available bytes. */
export const readDeclaredLength = (cursor: ProtobufCursor, tag: number): number => {
  checkType(cursor, tag, wireBytes);
  return readUint32(cursor);
};

/** Returns true if a field is a string, bytes or a message. */
export const isBytesField = (tag: number): boolean => (tag & 7) === wireBytes;

/** Reads an int32 or int64, to the precision of a double. */
export const readInteger = (cursor: ProtobufCursor, tag: number): number => {
  checkType(cursor, tag, wireVarint);
  const { low, high } = readVarint(cursor);
  return (high | 0) * 0x1_0000_0000 + low;
};

/** Skips a field of any type. */
export const skipField = (cursor: ProtobufCursor, tag: number): void => {
  switch (tag & 7) {
    case wireVarint:
      readVarint(cursor);
      return;
    case wireFixed64:
      cursor.at = advance(cursor, 8);
      return;
    case wireBytes:
      cursor.at = readLength(cursor, tag);
      return;
    case wireFixed32:
      cursor.at = advance(cursor, 4);
      return;
    default:
      throw new ProtobufError(cursor.at, `field ${String(fieldOf(tag))} has the unknown wire type ${String(tag & 7)}`);
  }
};

/** Reads the next field's tag in the message that ends at `end`, or returns 0 at its end. */
export const nextTag = (cursor: ProtobufCursor, end: number): number => {
  if (cursor.at < end) return readTag(cursor);
  if (cursor.at !== end) throw new ProtobufError(cursor.at, 'a field that goes on beyond its message');
  return 0;
};

/** Up to this length in bytes, building a text character by character is cheaper than a call of `toString`. */
const longestByByte = 12;

/** Reads a string up to `end`. */
export const readText = (cursor: ProtobufCursor, end: number): string => {
  const { bytes, at } = cursor;
  cursor.at = end;
  const isShort = end - at <= longestByByte;
  let text = '';
  for (let index = at; index < end; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte >= 0x80) return readUtf8(bytes.subarray(at, end), at);
    if (isShort) text += String.fromCharCode(byte);
  }
  return isShort ? text : bytes.toString('latin1', at, end);
};

const readUtf8 = (bytes: Uint8Array, offset: number): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ProtobufError(offset, 'a string that is not UTF-8');
  }
};

/** Reads a string field. */
export const readString = (cursor: ProtobufCursor, tag: number): string => readText(cursor, readLength(cursor, tag));

/** Returns true if the bytes from `start` to `end` are the ASCII `text`: cheaper than reading a string. False for any text with other characters. */
export const equalsAscii = ({ bytes }: ProtobufCursor, { start, end }: ProtobufRange, text: string): boolean => {
  if (end - start !== text.length) return false;
  for (let index = 0; index < text.length; index += 1) {
    const byte = bytes[start + index] ?? 0x80;
    if (byte !== text.charCodeAt(index) || byte >= 0x80) return false;
  }
  return true;
};

export interface ProtobufRange {
  readonly start: number;
  readonly end: number;
}

/** Skips a string field and returns its range. */
export const readRange = (cursor: ProtobufCursor, tag: number): ProtobufRange => {
  const end = readLength(cursor, tag);
  const start = cursor.at;
  cursor.at = end;
  return { start, end };
};
