import { type JsonMap, isMap } from './object.ts';

/** Applies a JSON merge patch (RFC 7396). Returns a new value and leaves `target` unchanged. */
export const applyMergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isMap(patch)) return patch;
  const result: JsonMap = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else result[key] = applyMergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value);
  }
  return result;
};
