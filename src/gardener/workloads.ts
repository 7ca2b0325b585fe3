import { optionalInteger, optionalObject, optionalString } from '../kubernetes/api/decode.ts';
import {
  type ObjectHealth,
  type ObjectParts,
  conditionProblem,
  decodeParts,
  objectGetter,
  outdatedProblem,
} from './health.ts';

/** Replica counts are not compared: a Deployment at 0 replicas is healthy. */
const deploymentProblem = (parts: ObjectParts): string | undefined =>
  outdatedProblem(parts) ??
  conditionProblem(parts.conditions, {
    isTrue: ['Available'],
    maybeTrue: ['Progressing'],
    maybeFalse: ['ReplicaFailure'],
  });

export const decodeDeploymentHealth = (json: unknown, path: string): ObjectHealth => {
  const parts = decodeParts(json, path);
  return { meta: parts.meta, problem: deploymentProblem(parts) };
};

/** Reads `spec.replicas`; 1 if absent. */
const decodeReplicas = ({ spec, path }: ObjectParts): number =>
  optionalInteger(spec.replicas, `${path}.spec.replicas`) ?? 1;

/** A Deployment of a control plane. */
export interface ControlPlaneDeployment extends ObjectHealth {
  /** Value of the label `gardener.cloud/role`; empty if absent. */
  readonly role: string;
  readonly replicas: number;
}

export const decodeControlPlaneDeployment = (json: unknown, path: string): ControlPlaneDeployment => {
  const parts = decodeParts(json, path);
  const { meta } = parts;
  const role = meta.labels['gardener.cloud/role'] ?? '';
  return { meta, problem: deploymentProblem(parts), role, replicas: decodeReplicas(parts) };
};

/** Reads a count from the status. It is 0 if absent, because Go omits 0. */
const decodeCount = ({ status, path }: ObjectParts, field: string): number =>
  optionalInteger(status[field], `${path}.status.${field}`) ?? 0;

export const decodeStatefulSetHealth = (json: unknown, path: string): ObjectHealth => {
  const parts = decodeParts(json, path);
  const desired = decodeReplicas(parts);
  const ready = decodeCount(parts, 'readyReplicas');
  const tooFew = ready < desired ? `not enough ready replicas (${ready}/${desired})` : undefined;
  return { meta: parts.meta, problem: outdatedProblem(parts) ?? tooFew };
};

/**
 * Reads how many pods may be unavailable while a DaemonSet rolls out, of `desired`: none unless a rolling update has a readable `maxUnavailable`. Percentages
 * round down (k8s.io/apimachinery `pkg/util/intstr`, GetScaledValueFromIntOrPercent).
 */
const decodeMaxUnavailable = ({ spec, path }: ObjectParts, desired: number): number => {
  const at = `${path}.spec.updateStrategy`;
  const strategy = optionalObject(spec.updateStrategy, at) ?? {};
  if (optionalString(strategy.type, `${at}.type`) !== 'RollingUpdate') return 0;
  const { maxUnavailable } = optionalObject(strategy.rollingUpdate, `${at}.rollingUpdate`) ?? {};
  if (typeof maxUnavailable === 'number' && Number.isSafeInteger(maxUnavailable)) return maxUnavailable;
  const percent = typeof maxUnavailable === 'string' ? /^([+-]?\d{1,15})%$/.exec(maxUnavailable)?.[1] : undefined;
  return percent === undefined ? 0 : Math.floor((Number(percent) * desired) / 100);
};

const scheduleProblem = (parts: ObjectParts): string | undefined => {
  const desired = decodeCount(parts, 'desiredNumberScheduled');
  const scheduled = decodeCount(parts, 'currentNumberScheduled');
  const misscheduled = decodeCount(parts, 'numberMisscheduled');
  const unavailable = decodeCount(parts, 'numberUnavailable');
  const rollsOut = decodeCount(parts, 'updatedNumberScheduled') < desired;
  const maxUnavailable = decodeMaxUnavailable(parts, desired);
  if (scheduled < desired) return `not enough scheduled pods (${scheduled}/${desired})`;
  if (misscheduled > 0) return `misscheduled pods found (${misscheduled})`;
  if (unavailable <= (rollsOut ? maxUnavailable : 0)) return undefined;
  const found = `${unavailable}/${scheduled}`;
  return rollsOut
    ? `too many unavailable pods found (${found}, only max. ${maxUnavailable} unavailable pods allowed)`
    : `too many unavailable pods found (${found})`;
};

export const decodeDaemonSetHealth = (json: unknown, path: string): ObjectHealth => {
  const parts = decodeParts(json, path);
  const problem = scheduleProblem(parts);
  return { meta: parts.meta, problem: outdatedProblem(parts) ?? problem };
};

export const getDeploymentHealth = objectGetter<ObjectHealth>('apps/v1', 'deployments', decodeDeploymentHealth);
export const getStatefulSetHealth = objectGetter<ObjectHealth>('apps/v1', 'statefulsets', decodeStatefulSetHealth);
export const getDaemonSetHealth = objectGetter<ObjectHealth>('apps/v1', 'daemonsets', decodeDaemonSetHealth);
