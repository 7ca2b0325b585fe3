/** A number of seven bits each; negative ones take all of 64 bits. */
const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
};

/** A field of a number or a bool. */
export const numberField = (field: number, value: number): Buffer => Buffer.concat([varint(field * 8), varint(value)]);

/** A field of a string, bytes or a message of the fields given. */
export const field = (number: number, ...content: readonly (string | Buffer)[]): Buffer => {
  const bytes = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
};

/** An entry of a map. */
export const entryField = (number: number, key: string, value: string): Buffer =>
  field(number, field(1, key), field(2, value));

/** The body of a request that sends an object of these fields. */
export const protobufBody = (apiVersion: string, kind: string, ...fields: readonly Buffer[]): Uint8Array =>
  Buffer.concat([Buffer.from('k8s\0'), field(1, field(1, apiVersion), field(2, kind)), field(2, ...fields)]);
