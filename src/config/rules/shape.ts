import { type JsonObject, isObject } from '../../kubernetes/api/decode.ts';

export type Fields = JsonObject;

/** Returns the fields of an object; no fields for any other value. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** Returns the items of a list; no items for any other value. */
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the items whose key an earlier item has, with the index of that `first` item. Items without a key are skipped. */
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
