import { ResponseError } from './errors.ts';
import { parseMicroTime } from './micro-time.ts';
import { shorten } from './shorten.ts';

/** An object from the API server has the wrong shape; the message names the path. */
export class DecodeError extends ResponseError {
  override readonly name = 'DecodeError';

  constructor(path: string, expected: string, found: unknown) {
    super(`${path}: expected ${expected}, found ${describe(found)}`);
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

const describe = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const decodeObject = (value: unknown, path: string): JsonObject => {
  if (!isObject(value)) throw new DecodeError(path, 'an object', value);
  return value;
};

const optional =
  <T>(expected: string, matches: (value: unknown) => value is T) =>
  (value: unknown, path: string): T | undefined => {
    if (value === undefined || value === null) return undefined;
    if (!matches(value)) throw new DecodeError(path, expected, value);
    return value;
  };

/** The `optional...` readers return undefined for absent and null, as Go's JSON decoder does; any other type is a DecodeError. */
export const optionalObject = optional('an object', isObject);
export const optionalList = optional('a list', (value): value is readonly unknown[] => Array.isArray(value));
export const optionalString = optional('a string', (value) => typeof value === 'string');
export const optionalBoolean = optional('a boolean', (value) => typeof value === 'boolean');
export const optionalInteger = optional('a whole number', (value): value is number => Number.isSafeInteger(value));

/** Returns the nested object `field`; empty if absent. */
export const childObject = (object: JsonObject, path: string, field: string): JsonObject =>
  optionalObject(object[field], `${path}.${field}`) ?? {};

/** Returns the objects of the list `field`, each with its path; none if it is absent. */
export const childObjects = (
  object: JsonObject,
  path: string,
  field: string,
): readonly { readonly object: JsonObject; readonly path: string }[] =>
  (optionalList(object[field], `${path}.${field}`) ?? []).map((item, index) => {
    const at = `${path}.${field}[${String(index)}]`;
    return { object: decodeObject(item, at), path: at };
  });

/** Reads a Time or MicroTime as microseconds since the epoch; undefined if it is absent, null or empty. Throws a DecodeError. */
export const optionalMicroTime = (value: unknown, path: string): number | undefined => {
  const text = optionalString(value, path);
  if (text === undefined || text === '') return undefined;
  const time = parseMicroTime(text);
  if (time === undefined) throw new DecodeError(path, 'a time', text);
  return time;
};

export const decodeString = (value: unknown, path: string): string => {
  const text = optionalString(value, path);
  if (text === undefined) throw new DecodeError(path, 'a string', value);
  return text;
};

/** Reads a map of strings; empty if absent. */
export const decodeStringMap = (value: unknown, path: string): Readonly<Record<string, string>> => {
  const object = optionalObject(value, path) ?? {};
  for (const [key, entry] of Object.entries(object)) {
    if (typeof entry !== 'string') throw new DecodeError(`${path}[${shorten(key)}]`, 'a string', entry);
  }
  return object as Readonly<Record<string, string>>;
};

/**
 * Returns the items of a list response, in the field `key`. A Go server never omits `items`, though it may be null: a response without it comes from something
 * else, and is no empty list. A list of another kind than `kind`, such as `LeaseList`, is refused too: nodes would decode as leases that were never renewed.
 */
export const listItems = (list: JsonObject, key = 'items', kind?: string): readonly unknown[] => {
  const said = optionalString(list.kind, 'kind') ?? kind;
  if (kind !== undefined && said !== kind) throw new DecodeError('kind', kind, said);
  if (!Object.hasOwn(list, key)) throw new DecodeError(key, 'a list', undefined);
  return optionalList(list[key], key) ?? [];
};

/** Decodes a list response, each item with `decodeItem`. */
export const decodeList =
  <T>(decodeItem: (item: unknown, path: string) => T, kind?: string, key = 'items') =>
  (json: unknown): readonly T[] =>
    listItems(decodeObject(json, 'list'), key, kind).map((item, index) => decodeItem(item, `${key}[${String(index)}]`));

export interface ObjectMeta {
  readonly name: string;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Absent for kinds without generations. */
  readonly generation?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly deleting: boolean;
}

/** Returns an object that was read from protobuf, in which a missing name is empty; throws a DecodeError if it has no name. */
export const checkName = <T extends { readonly name: string }>(object: T, path: () => string): T => {
  if (object.name === '') throw new DecodeError(`${path()}.metadata.name`, 'a name', undefined);
  return object;
};

export const decodeMeta = (object: JsonObject, path: string): ObjectMeta => {
  const meta = decodeObject(object.metadata, `${path}.metadata`);
  return {
    name: decodeString(meta.name, `${path}.metadata.name`),
    namespace: optionalString(meta.namespace, `${path}.metadata.namespace`) ?? '',
    uid: optionalString(meta.uid, `${path}.metadata.uid`) ?? '',
    resourceVersion: optionalString(meta.resourceVersion, `${path}.metadata.resourceVersion`) ?? '',
    generation: optionalInteger(meta.generation, `${path}.metadata.generation`),
    labels: decodeStringMap(meta.labels, `${path}.metadata.labels`),
    annotations: decodeStringMap(meta.annotations, `${path}.metadata.annotations`),
    deleting: optionalString(meta.deletionTimestamp, `${path}.metadata.deletionTimestamp`) !== undefined,
  };
};
