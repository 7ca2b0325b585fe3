import { type JsonObject, isObject } from '../kubernetes/api/decode.ts';
import type { KubeObject } from './object.ts';

/** One field that differs. `before` or `after` is absent if the field does not exist then. */
export interface Difference {
  /** Path of the field, such as `spec.template.spec.containers[name=main].image`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Metadata that the API server maintains, and that may change with every write. */
const bookkeeping: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]);

const withoutBookkeeping = ({ status: _, metadata, ...rest }: KubeObject): JsonObject => ({
  ...rest,
  metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => !bookkeeping.has(name))),
});

/** Returns the items of a list by key: their names if all have a unique one (containers, ports, variables), else their index. */
const keyed = (list: readonly unknown[]): ReadonlyMap<string, unknown> => {
  const names = list.map((item) =>
    isObject(item) && typeof item.name === 'string' ? `[name=${item.name}]` : undefined,
  );
  const isNamed = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  return new Map(list.map((item, index) => [(isNamed ? names[index] : undefined) ?? `[${String(index)}]`, item]));
};

const compare = (path: string, before: unknown, after: unknown): readonly Difference[] => {
  if (Array.isArray(before) && Array.isArray(after)) {
    const [old, now] = [keyed(before), keyed(after)];
    const keys = [...new Set([...old.keys(), ...now.keys()])];
    return keys.flatMap((key) => compare(`${path}${key}`, old.get(key), now.get(key)));
  }
  if (isObject(before) && isObject(after)) {
    const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    const keys = [...new Set([...old.keys(), ...now.keys()])];
    return keys.flatMap((key) => compare(path === '' ? key : `${path}.${key}`, old.get(key), now.get(key)));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
};

const hidden = '(hidden)';

/** Hides the values of a Secret, which must not appear on a terminal. The report may show that they differ. */
const hideValues = (difference: Difference): Difference => {
  if (!/^(?:data|stringData)\b/.test(difference.path)) return difference;
  return {
    path: difference.path,
    ...(difference.before === undefined ? {} : { before: hidden }),
    ...(difference.after === undefined ? {} : { after: hidden }),
  };
};

/** Lists the fields that differ between an object as it is and as it would be. */
export const differencesOf = (before: KubeObject, after: KubeObject): readonly Difference[] => {
  const found = compare('', withoutBookkeeping(before), withoutBookkeeping(after));
  return before.kind === 'Secret' ? found.map(hideValues) : found;
};
