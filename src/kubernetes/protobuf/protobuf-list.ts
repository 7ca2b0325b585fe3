import { createByteSink } from './byte-sink.ts';
import { type MessageFields, readFields, shortText } from './protobuf-reader.ts';
import {
  type ProtobufCursor,
  ProtobufError,
  cursorOf,
  fieldOf,
  isBytesField,
  readDeclaredLength,
  readTag,
  skipField,
} from './protobuf.ts';

/** `k8s` and a zero byte, the prefix of every message (k8s.io/apimachinery `pkg/runtime/serializer/protobuf/protobuf.go`). */
export const protobufMagic: readonly number[] = [0x6b, 0x38, 0x73, 0x00];

/** Expected type of a list, and what to do with its items. */
export interface ProtobufListOptions {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly limitBytes: number;
  /** Maximum size in bytes of one field: an item, or the list's metadata. */
  readonly fieldBytes: number;
  /** Called for each item, which ends at `end`; must leave the cursor there. */
  readonly item: (cursor: ProtobufCursor, end: number) => void;
}

/** Upper limit of the bytes of a tag together with a number or a length. */
const headBytes = 20;
const longestType = 1_000;
const longestToken = 4_096;

const typeMeta: MessageFields = { 1: shortText('apiVersion', longestType), 2: shortText('kind', longestType) };
const listMeta: MessageFields = { 3: shortText('token', longestToken) };

/** Reads a list as it arrives: a coroutine that yields when it needs more bytes. Throws a ProtobufError. */
export class ProtobufListReader {
  /** Maximum size of the body in bytes. */
  readonly limitBytes: number;
  readonly #options: ProtobufListOptions;
  readonly #sink = createByteSink();
  /** Cursor over the available bytes. */
  #cursor: ProtobufCursor = cursorOf(new Uint8Array(0));
  /** Offset of the first available byte in the body. */
  #offset = 0;
  #ended = false;
  #isTypeKnown = false;
  #token = '';
  readonly #reading: Generator<void, void>;

  constructor(options: ProtobufListOptions) {
    this.limitBytes = options.limitBytes;
    this.#options = options;
    this.#reading = this.#readBody();
  }

  feed(chunk: Uint8Array): void {
    const { at } = this.#cursor;
    this.#sink.drop(at);
    this.#offset += at;
    this.#sink.append(chunk);
    this.#cursor = { bytes: this.#sink.bytes(), at: 0 };
    this.#reading.next();
  }

  /** Returns the memory that it uses, in bytes. */
  held(): number {
    return this.#sink.held();
  }

  /** Ends the body. Returns the token of the next page, empty on the last one. */
  finish(): { readonly next: string } {
    this.#ended = true;
    this.#reading.next();
    return { next: this.#token };
  }

  /** Waits until `count` bytes are available or the body has ended. */
  *#fill(count: number): Generator<void, void> {
    while (!this.#ended && this.#cursor.bytes.length - this.#cursor.at < count) yield;
  }

  /** Returns the next field's tag in the message that ends at the offset `end`, or 0 at its end. */
  *#nextTag(end: number): Generator<void, number> {
    yield* this.#fill(headBytes);
    const cursor = this.#cursor;
    const at = this.#offset + cursor.at;
    if (at > end) throw new ProtobufError(cursor.at, 'a field that goes on beyond its message');
    return at === end || cursor.at === cursor.bytes.length ? 0 : readTag(cursor);
  }

  /** Waits until a bytes field is available as a whole; returns the position of its end in the cursor. */
  *#whole(tag: number): Generator<void, number> {
    const length = readDeclaredLength(this.#cursor, tag);
    const { fieldBytes } = this.#options;
    if (length > fieldBytes) {
      throw new ProtobufError(this.#cursor.at, `a field of more than ${String(fieldBytes)} bytes`);
    }
    yield* this.#fill(length);
    const end = this.#cursor.at + length;
    if (end > this.#cursor.bytes.length) {
      throw new ProtobufError(this.#cursor.at, 'a field that is longer than what is there');
    }
    return end;
  }

  /** Reads a `runtime.Unknown` (k8s.io/apimachinery `pkg/runtime/generated.proto`), in which Go writes the type before the object. */
  *#readBody(): Generator<void, void> {
    yield* this.#fill(protobufMagic.length);
    if (protobufMagic.some((byte, index) => this.#cursor.bytes[index] !== byte)) {
      throw new ProtobufError(0, 'not a Kubernetes message');
    }
    this.#cursor.at = protobufMagic.length;
    let isRead = false;
    for (let tag = yield* this.#nextTag(Infinity); tag !== 0; tag = yield* this.#nextTag(Infinity)) {
      const field = fieldOf(tag);
      if (field === 2) {
        if (isRead) throw new ProtobufError(this.#cursor.at, 'a second object');
        isRead = true;
        yield* this.#readList(readDeclaredLength(this.#cursor, tag));
      } else if (field === 1) this.#checkType(yield* this.#whole(tag));
      else if (isBytesField(tag)) {
        const end = yield* this.#whole(tag);
        if (field === 3 && end > this.#cursor.at) throw new ProtobufError(0, 'the object is encoded once more');
        this.#cursor.at = end;
      } else skipField(this.#cursor, tag);
    }
    if (!isRead) throw new ProtobufError(0, 'an envelope without an object');
  }

  /** Checks the kind of the list, because one of another kind could look like an empty list. */
  #checkType(end: number): void {
    const draft = { apiVersion: '', kind: '' };
    const { apiVersion, kind } = readFields(this.#cursor, end, { fields: typeMeta, draft });
    const wanted = this.#options;
    if (
      (wanted.kind !== undefined && kind !== wanted.kind) ||
      (wanted.apiVersion !== undefined && apiVersion !== wanted.apiVersion)
    ) {
      throw new ProtobufError(0, `expected ${wanted.kind ?? ''} of ${wanted.apiVersion ?? ''}, found another kind`);
    }
    this.#isTypeKnown = true;
  }

  /** Reads the list. In all lists `metadata` is field 1 and `items` is field 2. */
  *#readList(length: number): Generator<void, void> {
    if (!this.#isTypeKnown) throw new ProtobufError(this.#cursor.at, 'an object before its type');
    const end = this.#offset + this.#cursor.at + length;
    for (let tag = yield* this.#nextTag(end); tag !== 0; tag = yield* this.#nextTag(end)) {
      if (!isBytesField(tag)) {
        skipField(this.#cursor, tag);
        continue;
      }
      const fieldEnd = yield* this.#whole(tag);
      const cursor = this.#cursor;
      if (this.#offset + fieldEnd > end) throw new ProtobufError(cursor.at, 'a field that goes on beyond its message');
      if (fieldOf(tag) === 2) this.#options.item(cursor, fieldEnd);
      else if (fieldOf(tag) === 1) {
        this.#token = readFields(cursor, fieldEnd, { fields: listMeta, draft: { token: '' } }).token;
      } else cursor.at = fieldEnd;
    }
    if (this.#offset + this.#cursor.at !== end) {
      throw new ProtobufError(this.#cursor.at, 'a field that is longer than what is there');
    }
  }
}
