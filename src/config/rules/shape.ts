import { type JsonObject, isObject } from '../../kubernetes/api/decode.ts';

export type Fields = JsonObject;

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** The items of a list; none of anything else. */
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The items whose key an earlier one has, with the index of the `first`. Those without a key are a problem of their own. */
export const repeatedAmong = (keys: readonly (string | undefined)[]) => {
  const firstByKey = new Map<string, number>();
  return keys.flatMap((key, index) => {
    if (key === undefined) return [];
    const first = firstByKey.get(key);
    if (first !== undefined) return [{ index, first, key }];
    firstByKey.set(key, index);
    return [];
  });
};
