import { DecodeError, type JsonObject, decodeObject, optionalString } from '../kubernetes/api/decode.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { parseMicroTime } from '../kubernetes/api/micro-time.ts';

/** Of a reason or a name, in UTF-16 code units: what is read of an annotation, and what is written. */
const longestText = 1_000;
/** Of an annotation, in UTF-16 code units; anybody may write up to 256 KiB of them. */
const longestAnnotation = 8_192;

/** What drives a terminal or turns the order of what it shows: C0, DEL and C1, and the bidirectional controls of UAX #9. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** One line without control characters, cut after `longestText`. */
const plainText = (text: string): string => {
  const plain = text.replaceAll(controls, ' ').trim();
  return plain.length <= longestText ? plain : `${plain.slice(0, longestText - 3).replace(/[\ud800-\udbff]$/, '')}...`;
};

/** `Date.parse` takes more than RFC 3339, and reads some of it in the time zone of this machine. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch; undefined where the field is absent. Throws a DecodeError. */
export const timeIn = (object: JsonObject, field: string): number | undefined => {
  const text = optionalString(object[field], field);
  if (text === undefined) return undefined;
  const time = rfc3339.test(text) ? parseMicroTime(text) : undefined;
  if (time === undefined) throw new DecodeError(field, 'a time such as 2026-01-01T00:00:00Z', text);
  return time / 1_000;
};

/** Throws a DecodeError. */
export const textIn = (object: JsonObject, field: string): string | undefined => {
  const text = optionalString(object[field], field);
  return text === undefined ? undefined : plainText(text);
};

/** One line of JSON; times are RFC 3339 with whole seconds. */
export const formatJsonAnnotation = (fields: Readonly<Record<string, string | number | undefined>>): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        if (value === undefined) return [];
        return [[name, typeof value === 'number' ? formatTime(value) : plainText(value)]];
      }),
    ),
  );

/** The error says what is wrong with the annotation, without repeating it. */
export const readJsonAnnotation = <T>(
  text: string,
  decode: (object: JsonObject) => T,
  longest = longestAnnotation,
): Result<T, string> => {
  if (text.length > longest) return { ok: false, error: 'it is too long' };
  try {
    return { ok: true, value: decode(decodeObject(JSON.parse(text), 'it')) };
  } catch (error) {
    if (error instanceof DecodeError) return { ok: false, error: error.message };
    if (error instanceof SyntaxError) return { ok: false, error: 'it is not JSON' };
    throw error;
  }
};
