/**
 * A message that is written from its end to its beginning: the length of a part stands in front of it, and is known once the part is written
 * (as Go's generated `MarshalToSizedBuffer` does it).
 */
export interface ProtobufWriter {
  /** What is written so far is behind `start`. */
  bytes: Uint8Array;
  start: number;
}

const [wireVarint, wireBytes] = [0, 2];

/** `size`: a guess at the length of the message, in bytes; it grows when that is not enough. */
export const createProtobufWriter = (size: number): ProtobufWriter => ({
  bytes: Buffer.allocUnsafe(size),
  start: size,
});

/** Bytes written so far. */
export const writtenSize = ({ bytes, start }: ProtobufWriter): number => bytes.length - start;

/** The message, which must not be written on. */
export const writtenBytes = ({ bytes, start }: ProtobufWriter): Uint8Array => bytes.subarray(start);

const grow = (writer: ProtobufWriter, length: number): void => {
  const written = writtenBytes(writer);
  const bytes = Buffer.allocUnsafe(Math.max(2 * writer.bytes.length, written.length + length));
  writer.start = bytes.length - written.length;
  bytes.set(written, writer.start);
  writer.bytes = bytes;
};

/** Takes room in front of what is written. */
const take = (writer: ProtobufWriter, length: number): void => {
  if (length > writer.start) grow(writer, length);
  writer.start -= length;
};

export const writeBytes = (writer: ProtobufWriter, content: Uint8Array): void => {
  take(writer, content.length);
  writer.bytes.set(content, writer.start);
};

/** A negative number takes all of the ten bytes that 64 bits do. */
const writeNegative = (writer: ProtobufWriter, value: number): void => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  writeBytes(writer, Uint8Array.from([...bytes, Number(rest)]));
};

const varintLength = (value: number): number => {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length += 1;
  return length;
};

const writeVarint = (writer: ProtobufWriter, value: number): void => {
  if (!(value >= 0)) {
    writeNegative(writer, value);
    return;
  }
  take(writer, varintLength(value));
  let at = writer.start;
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) {
    writer.bytes[at] = (rest % 128) | 0x80;
    at += 1;
  }
  writer.bytes[at] = rest;
};

/** Throws a RangeError for what is no number. */
export const writeInteger = (writer: ProtobufWriter, field: number, value: number): void => {
  writeVarint(writer, Math.trunc(value));
  writeVarint(writer, (field << 3) | wireVarint);
};

/** Makes a field of what was written since the message had `size` bytes: of a string, bytes or a message. */
export const endField = (writer: ProtobufWriter, field: number, size: number): void => {
  writeVarint(writer, writtenSize(writer) - size);
  writeVarint(writer, (field << 3) | wireBytes);
};

/** False, and nothing is written, for what is not ASCII alone. */
const writeAscii = (writer: ProtobufWriter, text: string): boolean => {
  const { length } = text;
  take(writer, length);
  const { bytes, start } = writer;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) {
      writer.start += length;
      return false;
    }
    bytes[start + index] = code;
  }
  return true;
};

export const writeString = (writer: ProtobufWriter, field: number, text: string): void => {
  const size = writtenSize(writer);
  if (!writeAscii(writer, text)) writeBytes(writer, Buffer.from(text));
  endField(writer, field, size);
};
