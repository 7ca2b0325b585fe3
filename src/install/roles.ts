import type { JsonObject } from '../kubernetes/api/decode.ts';
import { type KubeObject, rulesOf } from './object.ts';
import type { PlannedObject } from './plan.ts';

/** Returns a key of the rule that does not depend on the order of its fields. */
const keyOf = (rule: JsonObject): string => JSON.stringify(rule, Object.keys(rule).toSorted());

const isRole = ({ apiVersion, kind }: KubeObject): boolean =>
  apiVersion.startsWith('rbac.authorization.k8s.io/') && (kind === 'Role' || kind === 'ClusterRole');

const lostRules = ({ object, live }: PlannedObject): readonly JsonObject[] => {
  if (live === undefined || !isRole(object)) return [];
  const kept = new Set(rulesOf(object).map(keyOf));
  return rulesOf(live).filter((rule) => !kept.has(keyOf(rule)));
};

/** True if the pods of the previous version may need a right that this one does not grant. */
export const isNarrowed = (planned: PlannedObject): boolean => lostRules(planned).length > 0;

/** Returns a role with the rights of both versions, for as long as pods of both may run. Other objects stay as planned. */
export const widened = (planned: PlannedObject): PlannedObject =>
  isNarrowed(planned)
    ? { ...planned, object: { ...planned.object, rules: [...rulesOf(planned.object), ...lostRules(planned)] } }
    : planned;
