/** What a JSON object parses to. Values that are stored or came out of the store are shared: never write to them. */
export type JsonMap = Record<string, unknown>;

export interface SimMeta extends Readonly<JsonMap> {
  readonly name: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** A Kubernetes object as the simulated server holds it. */
export interface SimObject extends Readonly<JsonMap> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: SimMeta;
}

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const asMap = (value: unknown): JsonMap => (isMap(value) ? value : {});

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const getPath = (value: unknown, path: readonly string[]): unknown => {
  let current = value;
  for (const segment of path) {
    if (!isMap(current)) return undefined;
    current = current[segment];
  }
  return current;
};

/** A copy of `map` with `value` at `path`; missing objects on the way are made, undefined removes. */
export const withPath = (map: Readonly<JsonMap>, path: readonly string[], value: unknown): JsonMap => {
  const [head, ...rest] = path;
  if (head === undefined) return asMap(value);
  const next = rest.length === 0 ? value : withPath(asMap(map[head]), rest, value);
  return next === undefined ? without(map, head) : { ...map, [head]: next };
};

/** A copy without `keys`. They are not deleted from it: V8 makes a hash table of an object that loses members, and keeps it one. */
export const without = (map: Readonly<JsonMap>, ...keys: readonly string[]): JsonMap =>
  keys.some((key) => Object.hasOwn(map, key))
    ? Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)))
    : { ...map };

/** Deep equality of JSON values; an absent member equals an undefined one. */
export const equalJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((entry, index) => equalJson(entry, b[index]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  for (const key in a) if (!equalJson(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
};
