import { equalJson, isMap, type JsonMap } from './object.ts';
import { badRequest } from './status.ts';

/**
 * Lists that a strategic merge patch merges by key instead of replacing them (`patchMergeKey` in k8s.io/api), by field name. A
 * field name may mean different things in different kinds; the first key present in the patch's items is taken.
 */
const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  conditions: ['type'],
  addresses: ['type'],
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  volumeMounts: ['mountPath'],
  ports: ['containerPort', 'port'],
  ownerReferences: ['uid'],
  hostAliases: ['ip'],
  podIPs: ['ip'],
  hostIPs: ['ip'],
  topologySpreadConstraints: ['topologyKey'],
};

/** Lists of plain values that are merged as sets. */
const mergedSets = new Set(['finalizers', 'podCIDRs']);

const directive = '$patch';
const deletePrefix = '$deleteFromPrimitiveList/';
const ignoredPrefixes = ['$setElementOrder/', '$retainKeys'];

const mergeKeyed = (target: readonly unknown[], patch: readonly unknown[], key: string): readonly unknown[] => {
  if (patch.some((item) => isMap(item) && item[directive] === 'replace' && Object.keys(item).length === 1)) {
    return patch.filter((item) => !(isMap(item) && item[directive] === 'replace'));
  }
  const result = [...target];
  for (const item of patch) {
    if (!isMap(item) || item[key] === undefined) {
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    }
    const index = result.findIndex((candidate) => isMap(candidate) && equalJson(candidate[key], item[key]));
    if (item[directive] === 'delete') {
      if (index >= 0) result.splice(index, 1);
    } else if (index >= 0) result[index] = mergeMaps(result[index], item);
    else result.push(mergeMaps({}, item));
  }
  return result;
};

const mergeList = (name: string, target: readonly unknown[], patch: readonly unknown[]): readonly unknown[] => {
  if (mergedSets.has(name)) return [...target, ...patch.filter((value) => !target.includes(value))];
  const keys = mergeKeys[name];
  if (keys === undefined || patch.length + target.length === 0) return patch;
  const sample = patch.find(isMap) ?? {};
  const key = keys.find((candidate) => Object.hasOwn(sample, candidate)) ?? keys[0];
  return key === undefined ? patch : mergeKeyed(target, patch, key);
};

const mergeMaps = (target: unknown, patch: JsonMap): JsonMap => {
  if (patch[directive] === 'replace') {
    const { [directive]: _directive, ...rest } = patch;
    return rest;
  }
  if (patch[directive] === 'delete') return {};
  const result: JsonMap = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === directive || ignoredPrefixes.some((prefix) => key.startsWith(prefix))) continue;
    if (key.startsWith(deletePrefix)) {
      const name = key.slice(deletePrefix.length);
      const gone = Array.isArray(value) ? (value as unknown[]) : [];
      const list = result[name];
      if (Array.isArray(list)) result[name] = list.filter((entry: unknown) => !gone.includes(entry));
    } else if (value === null) Reflect.deleteProperty(result, key);
    else if (isMap(value)) result[key] = mergeMaps(Object.hasOwn(result, key) ? result[key] : undefined, value);
    else if (Array.isArray(value)) {
      const list = result[key];
      result[key] = mergeList(key, Array.isArray(list) ? (list as unknown[]) : [], value as unknown[]);
    } else result[key] = value;
  }
  return result;
};

/**
 * Strategic merge patch for built-in kinds, as far as their metadata, conditions, containers and ports need it. Returns a new value;
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export const applyStrategicMergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isMap(patch)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal the patch into Go value of type map[string]interface {}',
    );
  }
  return mergeMaps(target, patch);
};
