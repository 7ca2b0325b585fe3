/** A parsed JSON object. Values in the store, or returned by it, are shared: never write to them. */
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
  readonly managedFields?: readonly JsonMap[];
}

/** A Kubernetes object as the simulated server stores it. */
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

/** Copies `map` with `value` at `path`. Creates missing objects on the way; undefined removes the member. */
export const withPath = (map: Readonly<JsonMap>, path: readonly string[], value: unknown): JsonMap => {
  const [head, ...rest] = path;
  if (head === undefined) return asMap(value);
  const next = rest.length === 0 ? value : withPath(asMap(map[head]), rest, value);
  return next === undefined ? without(map, head) : { ...map, [head]: next };
};

/** Copies `map` without `keys`. It does not delete members, because V8 turns an object that loses members into a hash table for good. */
export const without = (map: Readonly<JsonMap>, ...keys: readonly string[]): JsonMap =>
  keys.some((key) => Object.hasOwn(map, key))
    ? Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)))
    : { ...map };

/** Compares JSON values deeply; an absent member equals an undefined one. */
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
