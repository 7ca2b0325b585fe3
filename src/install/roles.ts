import type { JsonObject } from '../kubernetes/api/decode.ts';
import { type KubeObject, rulesOf } from './object.ts';
import type { PlannedObject } from './plan.ts';

/** Whatever the order of its fields. */
const keyOf = (rule: JsonObject): string => JSON.stringify(rule, Object.keys(rule).toSorted());

const isRole = ({ apiVersion, kind }: KubeObject): boolean =>
  apiVersion.startsWith('rbac.authorization.k8s.io/') && (kind === 'Role' || kind === 'ClusterRole');

const lostRules = ({ object, live }: PlannedObject): readonly JsonObject[] => {
  if (live === undefined || !isRole(object)) return [];
  const kept = new Set(rulesOf(object).map(keyOf));
  return rulesOf(live).filter((rule) => !kept.has(keyOf(rule)));
};

/** True if the pods of the version before may need a right that this one does not have. */
export const isNarrowed = (planned: PlannedObject): boolean => lostRules(planned).length > 0;

/** A role with the rights of both versions, for as long as pods of both may run. Everything else stays as it is planned. */
export const widened = (planned: PlannedObject): PlannedObject =>
  isNarrowed(planned)
    ? { ...planned, object: { ...planned.object, rules: [...rulesOf(planned.object), ...lostRules(planned)] } }
    : planned;
