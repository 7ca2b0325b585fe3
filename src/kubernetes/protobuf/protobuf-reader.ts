import { formatMicroTime, microsecondsOf } from '../api/micro-time.ts';
import {
  type ProtobufCursor,
  ProtobufError,
  type ProtobufRange,
  fieldOf,
  nextTag,
  readInteger,
  readLength,
  readRange,
  readString,
  readText,
  skipField,
  equalsAscii,
} from './protobuf.ts';

type Value = string | number | boolean | object | undefined;

/** The fields of a message that were read, by the names in its table. */
type Draft = Record<string, Value>;

/** Reads one field into the draft. */
type ReadField = (cursor: ProtobufCursor, tag: number, draft: Draft) => void;

/** Readers of a message's fields, by their numbers in upstream's `generated.proto`; all other fields are skipped. */
export type MessageFields = Readonly<Record<number, ReadField>>;

/**
 * Reads the message that ends at `end` into `draft`. As in Go, the last value of a repeated scalar field counts, and repeated messages are merged. Throws a
 * ProtobufError. A draft that has all of its names from the start is cheaper to fill.
 */
export const readFields = <D extends object>(
  cursor: ProtobufCursor,
  end: number,
  { fields, draft }: { readonly fields: MessageFields; readonly draft: D },
): D => {
  for (let tag = nextTag(cursor, end); tag !== 0; tag = nextTag(cursor, end)) {
    const read = fields[fieldOf(tag)];
    if (read === undefined) skipField(cursor, tag);
    else read(cursor, tag, draft as Draft);
  }
  return draft;
};

/** Reads a field into its own name of the draft. */
const named =
  (read: (cursor: ProtobufCursor, tag: number) => Value) =>
  (name: string): ReadField =>
  (cursor, tag, draft) => {
    draft[name] = read(cursor, tag);
  };

const textAt = (cursor: ProtobufCursor, { start, end }: ProtobufRange): string =>
  readText({ bytes: cursor.bytes, at: start }, end);

export const text = named(readString);
export const integer = named(readInteger);
export const flag = named((cursor, tag) => readInteger(cursor, tag) !== 0);
export const bytes = named((cursor, tag) => {
  const { start, end } = readRange(cursor, tag);
  return cursor.bytes.subarray(start, end);
});

/** Reads a text of at most `longest` bytes. */
export const shortText = (name: string, longest: number): ReadField =>
  named((cursor, tag) => {
    const range = readRange(cursor, tag);
    if (range.end - range.start <= longest) return textAt(cursor, range);
    throw new ProtobufError(range.start, `a string of more than ${String(longest)} bytes`);
  })(name);

/** Reads a text that is usually one of `words`, for which it allocates no string. */
export const word = (name: string, words: readonly string[]): ReadField =>
  named((cursor, tag) => {
    const range = readRange(cursor, tag);
    for (const known of words) if (equalsAscii(cursor, range, known)) return known;
    return textAt(cursor, range);
  })(name);

/** Reads a message into the same draft. */
export const flat =
  (fields: MessageFields): ReadField =>
  (cursor, tag, draft) =>
    void readFields(cursor, readLength(cursor, tag), { fields, draft });

/** Reads a message into its own draft. */
export const message =
  (name: string, fields: MessageFields): ReadField =>
  (cursor, tag, draft) => {
    const own = (draft[name] ?? {}) as Draft;
    draft[name] = readFields(cursor, readLength(cursor, tag), { fields, draft: own });
  };

/** Reads a repeated message, each item into its own draft. */
export const list =
  (name: string, fields: MessageFields, fresh: () => object = () => ({})): ReadField =>
  (cursor, tag, draft) => {
    const items = (draft[name] ??= []) as object[];
    items.push(readFields(cursor, readLength(cursor, tag), { fields, draft: fresh() }));
  };

interface Entry {
  readonly key: ProtobufRange;
  readonly value: ProtobufRange;
}

/** Reads an entry of a `map<string, string>`. */
const readEntry = (cursor: ProtobufCursor, tag: number): Entry => {
  const end = readLength(cursor, tag);
  let key: ProtobufRange = { start: 0, end: 0 };
  let value = key;
  for (let part = nextTag(cursor, end); part !== 0; part = nextTag(cursor, end)) {
    if (fieldOf(part) === 1) key = readRange(cursor, part);
    else if (fieldOf(part) === 2) value = readRange(cursor, part);
    else skipField(cursor, part);
  }
  return { key, value };
};

/** Reads a map of strings into an object without prototype, because its keys are untrusted. */
export const stringMap =
  (name: string): ReadField =>
  (cursor, tag, draft) => {
    const map = (draft[name] ??= Object.create(null) as Draft) as Draft;
    const { key, value } = readEntry(cursor, tag);
    map[textAt(cursor, key)] = textAt(cursor, value);
  };

/** Reads only the values that a map of strings has under these keys, each into the field of its name. */
export const entries = (keys: Readonly<Record<string, string>>): ReadField => {
  const wanted = Object.entries(keys);
  return (cursor, tag, draft) => {
    const found = readEntry(cursor, tag);
    for (const [name, key] of wanted) {
      if (equalsAscii(cursor, found.key, key)) draft[name] = textAt(cursor, found.value);
    }
  };
};

/** Reads a time. Go writes its zero time as an empty message, and as null in JSON: undefined. */
const timeBy = (make: (seconds: number, nanos: number) => string | number | undefined) =>
  named((cursor, tag) => {
    const end = readLength(cursor, tag);
    const start = cursor.at;
    if (start === end) return undefined;
    let seconds = 0;
    let nanos = 0;
    for (let part = nextTag(cursor, end); part !== 0; part = nextTag(cursor, end)) {
      if (fieldOf(part) === 1) seconds = readInteger(cursor, part);
      else if (fieldOf(part) === 2) nanos = readInteger(cursor, part);
      else skipField(cursor, part);
    }
    const made = make(seconds, nanos);
    if (made === undefined) throw new ProtobufError(start, 'not a time');
    return made;
  });

/** Reads a Time or MicroTime as text in the format of JSON. Whole seconds, such as those of a Time, have no fraction. */
export const time = timeBy((seconds, nanos) => formatMicroTime(seconds, nanos)?.replace('.000000Z', 'Z'));

/** Reads a Time or MicroTime in microseconds since the epoch. */
export const microseconds = timeBy(microsecondsOf);

/** The entry of `managedFields` is a message of `generated.proto` in k8s.io/apimachinery `pkg/apis/meta/v1`. */
const [entryTime, entryFields] = [4, 7];

/**
 * Reads an entry of `managedFields`. Keeps the time of the latest one that owns `field`, such as `renewTime`, in microseconds since the epoch: the server's
 * clock at its last change (kubernetes/kubernetes#110058).
 */
export const fieldStamp = (name: string, field: string): ReadField => {
  const key = Buffer.from(`"f:${field}"`);
  const timeField = microseconds('at');
  return (cursor, tag, draft) => {
    const end = readLength(cursor, tag);
    const found: Draft = {};
    let owns = false;
    for (let part = nextTag(cursor, end); part !== 0; part = nextTag(cursor, end)) {
      if (fieldOf(part) === entryTime) timeField(cursor, part, found);
      else if (fieldOf(part) === entryFields) {
        const range = readRange(cursor, part);
        owns = cursor.bytes.subarray(range.start, range.end).includes(key);
      } else skipField(cursor, part);
    }
    if (owns && typeof found.at === 'number') draft[name] = Math.max(found.at, Number(draft[name] ?? found.at));
  };
};
