import { type JsonObject, optionalInteger, optionalObject, optionalString } from '../kubernetes/api/decode.ts';
import {
  type HealthView,
  conditionProblem,
  decodeCount,
  decodeParts,
  objectGetter,
  outdatedProblem,
} from './health.ts';

export type DeploymentHealth = HealthView;

export const decodeDeploymentHealth = (json: unknown, path: string): DeploymentHealth => decodeParts(json, path).view;

/** A Deployment of a control plane. */
export interface ControlPlaneDeployment extends DeploymentHealth {
  /** Value of the label `gardener.cloud/role`; empty if absent. */
  readonly role: string;
  /** `spec.replicas`; 1 if absent. */
  readonly replicas: number;
}

export const decodeControlPlaneDeployment = (json: unknown, path: string): ControlPlaneDeployment => {
  const { view, spec } = decodeParts(json, path);
  return {
    ...view,
    role: view.meta.labels['gardener.cloud/role'] ?? '',
    replicas: optionalInteger(spec.replicas, `${path}.spec.replicas`) ?? 1,
  };
};

/** Returns the problem with a Deployment. Replica counts are not compared: a Deployment at 0 replicas is healthy. */
export const deploymentProblem = (deployment: DeploymentHealth): string | undefined =>
  outdatedProblem(deployment) ??
  conditionProblem(deployment.conditions, {
    isTrue: ['Available'],
    maybeTrue: ['Progressing'],
    maybeFalse: ['ReplicaFailure'],
  });

export interface StatefulSetHealth extends HealthView {
  /** `spec.replicas`; 1 if absent. */
  readonly desired: number;
  readonly ready: number;
}

export const decodeStatefulSetHealth = (json: unknown, path: string): StatefulSetHealth => {
  const parts = decodeParts(json, path);
  return {
    ...parts.view,
    desired: optionalInteger(parts.spec.replicas, `${path}.spec.replicas`) ?? 1,
    ready: decodeCount(parts, 'readyReplicas'),
  };
};

export const statefulSetProblem = (statefulSet: StatefulSetHealth): string | undefined => {
  const { ready, desired } = statefulSet;
  return (
    outdatedProblem(statefulSet) ?? (ready < desired ? `not enough ready replicas (${ready}/${desired})` : undefined)
  );
};

export interface DaemonSetHealth extends HealthView {
  /** Numbers of nodes: that should run a pod (`desired`), that should and do (`scheduled`), and that do but should not (`misscheduled`). */
  readonly desired: number;
  readonly scheduled: number;
  readonly misscheduled: number;
  readonly updated: number;
  readonly unavailable: number;
  /** `spec.updateStrategy.rollingUpdate.maxUnavailable` of a rolling update: a count or a percentage, as in the object. */
  readonly maxUnavailable?: unknown;
}

const rollingUpdateOf = (spec: JsonObject, path: string): JsonObject => {
  const at = `${path}.spec.updateStrategy`;
  const strategy = optionalObject(spec.updateStrategy, at) ?? {};
  if (optionalString(strategy.type, `${at}.type`) !== 'RollingUpdate') return {};
  return optionalObject(strategy.rollingUpdate, `${at}.rollingUpdate`) ?? {};
};

export const decodeDaemonSetHealth = (json: unknown, path: string): DaemonSetHealth => {
  const parts = decodeParts(json, path);
  return {
    ...parts.view,
    desired: decodeCount(parts, 'desiredNumberScheduled'),
    scheduled: decodeCount(parts, 'currentNumberScheduled'),
    misscheduled: decodeCount(parts, 'numberMisscheduled'),
    updated: decodeCount(parts, 'updatedNumberScheduled'),
    unavailable: decodeCount(parts, 'numberUnavailable'),
    maxUnavailable: rollingUpdateOf(parts.spec, path).maxUnavailable,
  };
};

/**
 * Returns how many pods may be unavailable while a DaemonSet rolls out; an unreadable value allows none. Percentages round down
 * (k8s.io/apimachinery `pkg/util/intstr`, GetScaledValueFromIntOrPercent).
 */
const allowedUnavailable = ({ desired, maxUnavailable }: DaemonSetHealth): number => {
  if (typeof maxUnavailable === 'number' && Number.isSafeInteger(maxUnavailable)) return maxUnavailable;
  const percent = typeof maxUnavailable === 'string' ? /^([+-]?\d{1,15})%$/.exec(maxUnavailable)?.[1] : undefined;
  return percent === undefined ? 0 : Math.floor((Number(percent) * desired) / 100);
};

export const daemonSetProblem = (daemonSet: DaemonSetHealth): string | undefined => {
  const outdated = outdatedProblem(daemonSet);
  if (outdated !== undefined) return outdated;
  const { desired, scheduled, misscheduled, updated, unavailable } = daemonSet;
  if (scheduled < desired) return `not enough scheduled pods (${scheduled}/${desired})`;
  if (misscheduled > 0) return `misscheduled pods found (${misscheduled})`;
  const rollsOut = updated < desired;
  const allowed = rollsOut ? allowedUnavailable(daemonSet) : 0;
  if (unavailable <= allowed) return undefined;
  const found = `${unavailable}/${scheduled}`;
  return rollsOut
    ? `too many unavailable pods found (${found}, only max. ${allowed} unavailable pods allowed)`
    : `too many unavailable pods found (${found})`;
};

export const getDeploymentHealth = objectGetter<DeploymentHealth>('apps/v1', 'deployments', decodeDeploymentHealth);
export const getStatefulSetHealth = objectGetter<StatefulSetHealth>('apps/v1', 'statefulsets', decodeStatefulSetHealth);
export const getDaemonSetHealth = objectGetter<DaemonSetHealth>('apps/v1', 'daemonsets', decodeDaemonSetHealth);
