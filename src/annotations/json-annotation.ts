import { DecodeError, type JsonObject, decodeObject, optionalList, optionalString } from '../kubernetes/api/decode.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { parseMicroTime } from '../kubernetes/api/micro-time.ts';

/** Maximum length of a reason or a name, read or written, in UTF-16 code units. */
const longestText = 1_000;
/** Maximum length of an annotation that is read, in UTF-16 code units. The API server accepts up to 256 KiB. */
const longestAnnotation = 8_192;

/** Characters that control a terminal or reverse the order of its text: C0, DEL and C1, and the bidirectional controls of UAX #9. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** Makes one line without control characters, cut to `longestText`. */
const plainText = (text: string): string => {
  const plain = text.replaceAll(controls, ' ').trim();
  return plain.length <= longestText ? plain : `${plain.slice(0, longestText - 3).replace(/[\ud800-\udbff]$/, '')}...`;
};

/** Needed because `Date.parse` accepts more than RFC 3339, and reads some formats in the time zone of this machine. */
export const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns milliseconds since the epoch; undefined for anything but a time in RFC 3339. */
export const parseTime = (text: string): number | undefined => {
  const time = rfc3339.test(text) ? parseMicroTime(text) : undefined;
  return time === undefined ? undefined : time / 1_000;
};

/** Reads a time, in milliseconds since the epoch; undefined if the field is absent. Throws a DecodeError. */
export const timeIn = (object: JsonObject, field: string): number | undefined => {
  const text = optionalString(object[field], field);
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (time === undefined) throw new DecodeError(field, 'a time such as 2026-01-01T00:00:00Z', text);
  return time;
};

/** Reads a text as one line; undefined if the field is absent. Throws a DecodeError. */
export const textIn = (object: JsonObject, field: string): string | undefined => {
  const text = optionalString(object[field], field);
  return text === undefined ? undefined : plainText(text);
};

/** Reads a list of objects; undefined if the field is absent. Throws a DecodeError. */
export const objectsIn = (object: JsonObject, field: string): readonly JsonObject[] | undefined =>
  optionalList(object[field], field)?.map((item, index) => decodeObject(item, `${field}[${String(index)}]`));

type Field = string | number | readonly Readonly<Record<string, string | undefined>>[] | undefined;

/** Formats fields as one line of JSON. Numbers are times in milliseconds since the epoch, written as RFC 3339 with whole seconds. */
export const formatJsonAnnotation = (fields: Readonly<Record<string, Field>>): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        if (value === undefined) return [];
        if (typeof value === 'number') return [[name, formatTime(value)]];
        return [[name, typeof value === 'string' ? plainText(value) : value]];
      }),
    ),
  );

/** Decodes a JSON annotation. The error describes the problem without repeating the text. */
export const readJsonAnnotation = <T>(text: string, decode: (object: JsonObject) => T): Result<T, string> => {
  if (text.length > longestAnnotation) return { ok: false, error: 'it is too long' };
  try {
    return { ok: true, value: decode(decodeObject(JSON.parse(text), 'it')) };
  } catch (error) {
    if (error instanceof DecodeError) return { ok: false, error: error.message };
    if (error instanceof SyntaxError) return { ok: false, error: 'it is not JSON' };
    throw error;
  }
};
